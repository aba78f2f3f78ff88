// A folder is renamed while files below it are open, and another takes its name.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("top", 0755));
  MUST(mkdir("top/middle", 0755));
  const int folder = open_file("top/middle", O_RDONLY | O_DIRECTORY);
  const int file = open_file("top/middle/file", O_RDWR | O_CREAT | O_EXCL);
  write_some(file, 0, 100);
  MUST(rename("top", "moved"));
  write_some(file, 100, 200);
  MUST_FAIL(open("top/middle/file", O_RDONLY), ENOENT);

  // The same names again are other files.
  MUST(mkdir("top", 0755));
  MUST(mkdir("top/middle", 0755));
  make_file("top/middle/file", 7);
  write_some(file, 300, 50);

  // Names relative to the open folder are those of the renamed one.
  const int inner = (int)MUST(openat(folder, "inner", O_WRONLY | O_CREAT | O_EXCL, 0644));
  write_some(inner, 0, 33);
  MUST(close(inner));
  MUST(fchdir(folder));
  make_file("from within", 12);
  MUST(rename("../../moved", "../../again"));
  make_file("from within 2", 13);
  MUST(mkdir("../beside", 0755));
  MUST(chdir("../.."));
  const int known = open_file("again/middle/file", O_RDONLY);
  CHECK(size_of(known) == 350);

  // A folder moves into another one, and replaces an empty one.
  MUST(mkdir("empty", 0755));
  MUST(rename("again/middle", "empty"));
  write_some(file, 350, 1);
  MUST_FAIL(rename("empty", "top"), ENOTEMPTY);
  MUST_FAIL(rename("top", "top/middle/below itself"), EINVAL);
  MUST(rename("empty", "top/middle/deeper"));
  CHECK(unlinkat(folder, "inner", 0) == 0);
  write_some(file, 351, 9);
  MUST(close(file));
  MUST(close(folder));
  return 0;
}
