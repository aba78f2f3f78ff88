// Names that end like the remark of the kernel on removed files, beside removed ones.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("folder (deleted)", 0755));
  make_file("folder (deleted)/file", 10);
  make_file("file", 20);
  make_file("file (deleted)", 30);
  const int one = open_file("file (deleted)", O_WRONLY);
  CHECK(lseek(one, 0, SEEK_END) == 30);
  write_some(one, 30, 15);
  const int folder = open_file("folder (deleted)", O_RDONLY | O_DIRECTORY);
  const int inside = (int)MUST(openat(folder, "file (deleted)", O_WRONLY | O_CREAT, 0644));
  write_some(inside, 0, 40);
  MUST(chdir("folder (deleted)"));
  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    make_file("by the child", 50);
    _exit(0);
  }
  expect_end(child);
  MUST(chdir(".."));
  MUST(unlink("file"));
  make_file("last", 60);
  return 0;
}
