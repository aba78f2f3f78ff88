// Changes through descriptors with O_PATH, which AT_EMPTY_PATH permits.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("file", 100);
  MUST(symlink("file", "link"));
  const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 2000000, .tv_nsec = 5}};
  const int file = open_file("file", O_PATH);
  const int link = open_file("link", O_PATH | O_NOFOLLOW);
  MUST(utimensat(file, "", times, AT_EMPTY_PATH));
  MUST(utimensat(link, "", times, AT_EMPTY_PATH));
  MUST_FAIL(fchmod(file, 0600), EBADF);
  return 0;
}
