// Copies between files by the kernel, with and without offsets, within a file, and clones.
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("source", 60000);
  const int source = open_file("source", O_RDWR);
  const int copy = open_file("copy", O_RDWR | O_CREAT | O_EXCL);
  CHECK(copy_file_range(source, NULL, copy, NULL, 30000, 0) == 30000);
  CHECK(lseek(source, 0, SEEK_CUR) == 30000 && lseek(copy, 0, SEEK_CUR) == 30000);
  off_t from = 1000, to = 100000;
  CHECK(copy_file_range(source, &from, copy, &to, 8000, 0) == 8000);
  CHECK(from == 9000 && to == 108000 && lseek(copy, 0, SEEK_CUR) == 30000);
  CHECK(size_of(copy) == 108000);
  from = 50000;
  CHECK(copy_file_range(source, &from, copy, NULL, 20000, 0) == 10000);  // up to the end
  CHECK(copy_file_range(source, &from, copy, NULL, 20000, 0) == 0);

  // Within one file, where the ranges must not overlap.
  from = 0, to = 60000;
  CHECK(copy_file_range(source, &from, source, &to, 4096, 0) == 4096);
  from = 0, to = 10;
  MUST_FAIL(copy_file_range(source, &from, source, &to, 4096, 0), EINVAL);
  const int reader = open_file("copy", O_RDONLY);
  MUST_FAIL(copy_file_range(source, NULL, reader, NULL, 10, 0), EBADF);

  // A clone, where the file system can.
  const int clone = open_file("clone", O_RDWR | O_CREAT | O_EXCL);
  if (ioctl(clone, FICLONE, source) != 0) {
    CHECK(errno == EOPNOTSUPP || errno == EXDEV || errno == EINVAL || errno == ENOTTY);
  }
  return 0;
}
