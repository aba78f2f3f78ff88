// Directories that are removed, replaced or renamed while a program works in them, and others that
// get their names.
#include <dirent.h>
#include <sys/syscall.h>

#include "check.h"

static void works_in_removed(void) {
  char entries[1000];
  MUST(mkdir("d", 0755));
  const int before = open_file("d", O_RDONLY | O_DIRECTORY);
  MUST(chdir("d"));
  MUST(rmdir("../d"));
  MUST_FAIL(open("x", O_WRONLY | O_CREAT, 0644), ENOENT);
  const int after = open_file(".", O_RDONLY | O_DIRECTORY);
  MUST_FAIL(syscall(SYS_getdents64, before, entries, sizeof entries), ENOENT);
  MUST_FAIL(syscall(SYS_getdents64, after, entries, sizeof entries), ENOENT);
  MUST(mkdir("../d", 0755));
  MUST_FAIL(open("x", O_WRONLY | O_CREAT, 0644), ENOENT);
  MUST_FAIL(mkdir("y", 0755), ENOENT);
  MUST_FAIL(symlink("text", "z"), ENOENT);
  MUST_FAIL(openat(before, "x", O_WRONLY | O_CREAT, 0644), ENOENT);
  MUST_FAIL(openat(after, "x", O_WRONLY | O_CREAT, 0644), ENOENT);
  struct stat info;
  MUST(stat(".", &info));
  MUST(access(".", R_OK));
  MUST(fstat(after, &info));
  make_file("../beside", 10);
  MUST_FAIL(rename("../beside", "beside"), ENOENT);
  MUST_FAIL(link("../beside", "beside"), ENOENT);
  MUST(chdir("."));
  make_file("../d/inside", 20);
  MUST(close(before));
  MUST(close(after));
  MUST(chdir(".."));
}

static void works_in_renamed(void) {
  MUST(mkdir("old", 0755));
  const int old = open_file("old", O_RDONLY | O_DIRECTORY);
  MUST(chdir("old"));
  MUST(rename("../old", "../new"));
  MUST(mkdir("../old", 0755));
  make_file("by name", 30);
  MUST(close((int)MUST(openat(old, "by descriptor", O_WRONLY | O_CREAT, 0644))));
  MUST(close(old));
  MUST(chdir(".."));
}

static void works_in_replaced(void) {
  MUST(mkdir("first", 0755));
  MUST(mkdir("second", 0755));
  make_file("first/of first", 5);
  MUST(chdir("second"));
  MUST(rename("../first", "../second"));
  MUST_FAIL(open("of first", O_RDONLY), ENOENT);
  MUST_FAIL(open("of second", O_WRONLY | O_CREAT, 0644), ENOENT);
  MUST(chdir(".."));
}

// A child has the directory of its parent, and the directory above it is removed, too.
static void works_below_removed(void) {
  MUST(mkdir("upper", 0755));
  MUST(mkdir("upper/lower", 0755));
  MUST(chdir("upper/lower"));
  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    MUST(rmdir("../lower"));
    MUST(rmdir("../../upper"));
    _exit(0);
  }
  expect_end(child);
  MUST(mkdir("../../upper", 0755));
  MUST(mkdir("../../upper/lower", 0755));
  MUST_FAIL(open("x", O_WRONLY | O_CREAT, 0644), ENOENT);
  MUST_FAIL(open("../x", O_WRONLY | O_CREAT, 0644), ENOENT);
  make_file("../../above", 40);
}

int main(int argc, char** argv) {
  begin(argc, argv);
  works_in_removed();
  works_in_renamed();
  works_in_replaced();
  works_below_removed();
  return 0;
}
