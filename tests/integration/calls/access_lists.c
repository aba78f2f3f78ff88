// Access control lists, by which programs such as sed and cp copy modes.
#include <sys/xattr.h>

#include "check.h"

#define ENTRY(tag, permissions) tag "\0" permissions "\0\xff\xff\xff\xff"

int main(int argc, char** argv) {
  begin(argc, argv);
  // Equal to the mode 0640.
  static const char plain[] =
      "\x02\0\0\0" ENTRY("\x01", "\x06") ENTRY("\x04", "\x04") ENTRY("\x20", "\x00");
  // With a user, and a mask: 0751.
  static const char named[] = "\x02\0\0\0" ENTRY("\x01", "\x07") "\x02\0\x07\0\xe8\x03\0\0" ENTRY(
      "\x04", "\x07") ENTRY("\x10", "\x05") ENTRY("\x20", "\x01");
  const char* name = "system.posix_acl_access";
  make_file("by descriptor", 10);
  make_file("by path", 20);
  make_file("extended", 30);
  make_file("removed", 40);
  MUST(mkdir("folder", 0700));
  const int fd = open_file("by descriptor", O_RDWR);
  MUST(fsetxattr(fd, name, plain, sizeof plain - 1, 0));
  MUST(setxattr("by path", name, plain, sizeof plain - 1, 0));
  MUST(setxattr("extended", name, named, sizeof named - 1, 0));
  MUST(setxattr("removed", name, named, sizeof named - 1, 0));
  MUST(removexattr("removed", name));
  MUST(setxattr("folder", name, named, sizeof named - 1, 0));
  MUST_FAIL(setxattr("by path", name, plain, sizeof plain - 2, 0), EINVAL);
  MUST(setxattr("folder", "system.posix_acl_default", named, sizeof named - 1, 0));
  MUST(removexattr("folder", "system.posix_acl_default"));
  struct stat info;
  MUST(stat("by path", &info));
  CHECK((info.st_mode & 07777) == 0640);
  MUST(stat("extended", &info));
  CHECK((info.st_mode & 07777) == 0751);
  return 0;
}
