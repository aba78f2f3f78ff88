// Vectors and positions: all the calls that read and write.
#include <sys/uio.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  const int fd = open_file("data", O_RDWR | O_CREAT | O_EXCL);
  char one[100], two[300], three[50];
  memset(one, '1', sizeof one), memset(two, '2', sizeof two), memset(three, '3', sizeof three);
  const struct iovec parts[] = {{one, sizeof one}, {two, sizeof two}, {three, sizeof three}};
  CHECK(writev(fd, parts, 3) == 450);
  CHECK(pwritev(fd, parts, 2, 1000) == 400);
  CHECK(pwritev2(fd, parts, 3, -1, RWF_DSYNC) == 450);  // at the position: 450
  CHECK(pwritev2(fd, parts, 1, 0, RWF_APPEND) == 100);  // at the end: 1400
  CHECK(lseek(fd, 0, SEEK_CUR) == 900);
  CHECK(pwritev2(fd, parts, 1, 2000, 0) == 100);
  CHECK(pwrite(fd, one, 10, 5000) == 10);
  CHECK(write(fd, one, 0) == 0);
  CHECK(size_of(fd) == 5010);

  CHECK(readv(fd, parts, 3) == 450);  // 900 to 1350
  CHECK(preadv(fd, parts, 3, 4900) == 110);
  CHECK(preadv2(fd, parts, 3, -1, 0) == 450);
  CHECK(lseek(fd, 0, SEEK_CUR) == 1800);
  CHECK(preadv2(fd, parts, 2, 100, 0) == 400);
  CHECK(pread(fd, two, sizeof two, 5000) == 10);
  CHECK(pread(fd, two, sizeof two, 6000) == 0);
  CHECK(lseek(fd, -10, SEEK_END) == 5000);
  CHECK(read(fd, two, sizeof two) == 10);
  CHECK(read(fd, two, sizeof two) == 0);

  MUST_FAIL(lseek(fd, -1, SEEK_SET), EINVAL);
  MUST_FAIL(pread(fd, two, 1, -1), EINVAL);
  const int reader = open_file("data", O_RDONLY);
  MUST_FAIL(write(reader, one, 1), EBADF);
  return 0;
}
