// Extended attributes of files, folders and what is open.
#include <sys/xattr.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("file", 10);
  MUST(mkdir("folder", 0755));
  MUST(symlink("file", "link"));
  char value[100];
  MUST_FAIL(getxattr("file", "user.one", value, sizeof value), ENODATA);
  MUST(setxattr("file", "user.one", "value", 5, XATTR_CREATE));
  MUST_FAIL(setxattr("file", "user.one", "other", 5, XATTR_CREATE), EEXIST);
  MUST_FAIL(setxattr("file", "user.two", "other", 5, XATTR_REPLACE), ENODATA);
  MUST(setxattr("link", "user.through the link", text_at(0, 64), 64, 0));
  CHECK(getxattr("file", "user.through the link", value, sizeof value) == 64);
  MUST_FAIL(getxattr("file", "user.through the link", value, 10), ERANGE);
  CHECK(getxattr("file", "user.one", NULL, 0) == 5);
  MUST_FAIL(lsetxattr("link", "user.of the link", "x", 1, 0), EPERM);

  const int fd = open_file("file", O_RDWR), folder = open_file("folder", O_RDONLY);
  MUST(fsetxattr(fd, "user.three", "", 0, 0));
  MUST(fsetxattr(folder, "user.of the folder", "1234567", 7, 0));
  CHECK(fgetxattr(fd, "user.three", value, sizeof value) == 0);
  CHECK(lgetxattr("folder", "user.of the folder", value, sizeof value) == 7);
  CHECK(llistxattr("folder", value, sizeof value) == sizeof "user.of the folder");
  CHECK(listxattr("file", NULL, 0) > 0 && flistxattr(fd, value, sizeof value) > 0);
  MUST(rename("file", "renamed"));
  MUST(fremovexattr(fd, "user.one"));
  MUST_FAIL(removexattr("renamed", "user.one"), ENODATA);
  MUST(setxattr("renamed", "user.three", "longer than it was", 18, XATTR_REPLACE));
  MUST_FAIL(setxattr("renamed", "nonsense", "x", 1, 0), EOPNOTSUPP);
  MUST_FAIL(getxattr("file", "user.three", value, sizeof value), ENOENT);
  return 0;
}
