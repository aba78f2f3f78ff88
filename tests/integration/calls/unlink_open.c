// Files that have no name any more are still written and read, and others take their names.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  const int gone = open_file("name", O_RDWR | O_CREAT | O_EXCL);
  write_some(gone, 0, 5000);
  MUST(unlink("name"));
  write_some(gone, 5000, 5000);
  struct stat info;
  MUST(fstat(gone, &info));
  CHECK(info.st_nlink == 0 && info.st_size == 10000);
  MUST_FAIL(open("name", O_RDONLY), ENOENT);

  // Two files with one name, one after the other.
  const int second = open_file("name", O_RDWR | O_CREAT | O_EXCL);
  write_some(second, 0, 10);
  char text[100];
  CHECK(pread(gone, text, sizeof text, 9950) == 50);
  CHECK(pread(second, text, sizeof text, 0) == 10);
  MUST(ftruncate(gone, 20000));
  MUST(fsync(gone));
  MUST(close(gone));

  // Replaced by a rename while open.
  make_file("third", 77);
  MUST(rename("third", "name"));
  write_some(second, 10, 500);
  CHECK(size_of(second) == 510);
  const int third = open_file("name", O_RDWR);
  CHECK(size_of(third) == 77);

  // A folder that is removed while it is the working directory.
  MUST(mkdir("folder", 0755));
  MUST(chdir("folder"));
  MUST(rmdir("../folder"));
  MUST_FAIL(open("file", O_WRONLY | O_CREAT, 0644), ENOENT);
  MUST(fchmod(second, 0600));
  CHECK(lseek(third, 70, SEEK_SET) == 70);
  write_some(third, 70, 30);
  return 0;
}
