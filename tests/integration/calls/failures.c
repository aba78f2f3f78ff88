// Calls that fail: a replay must fail in the same way.
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("file", 10);
  MUST(mkdir("folder", 0755));
  make_file("folder/inside", 20);
  MUST(symlink("loop b", "loop a"));
  MUST(symlink("loop a", "loop b"));
  struct stat info;
  char text[8];

  MUST_FAIL(open("missing", O_RDONLY), ENOENT);
  MUST_FAIL(open("missing/below", O_WRONLY | O_CREAT, 0644), ENOENT);
  MUST_FAIL(open("", O_RDONLY), ENOENT);
  MUST_FAIL(open("file/below", O_RDONLY), ENOTDIR);
  MUST_FAIL(open("file", O_RDONLY | O_DIRECTORY), ENOTDIR);
  MUST_FAIL(open("file", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
  MUST_FAIL(open("folder", O_WRONLY), EISDIR);
  MUST_FAIL(open("folder", O_RDONLY | O_CREAT, 0644), EISDIR);
  MUST_FAIL(open("loop a", O_RDONLY), ELOOP);
  MUST_FAIL(stat("missing", &info), ENOENT);
  MUST_FAIL(stat("file/", &info), ENOTDIR);
  MUST_FAIL(stat("loop a/below", &info), ELOOP);
  MUST_FAIL(lstat("missing/missing", &info), ENOENT);
  MUST_FAIL(mkdir("folder", 0755), EEXIST);
  MUST_FAIL(mkdir("file", 0755), EEXIST);
  MUST_FAIL(mkdir("missing/folder", 0755), ENOENT);
  MUST_FAIL(rmdir("folder"), ENOTEMPTY);
  MUST_FAIL(rmdir("file"), ENOTDIR);
  MUST_FAIL(rmdir("missing"), ENOENT);
  MUST_FAIL(rmdir("folder/."), EINVAL);
  MUST_FAIL(unlink("missing"), ENOENT);
  MUST_FAIL(unlink("folder"), EISDIR);
  MUST_FAIL(unlink("file/below"), ENOTDIR);
  MUST_FAIL(rename("missing", "other"), ENOENT);
  MUST_FAIL(rename("folder", "file"), ENOTDIR);
  MUST_FAIL(rename("file", "folder"), EISDIR);
  MUST_FAIL(link("missing", "other"), ENOENT);
  MUST_FAIL(link("file", "folder"), EEXIST);
  MUST_FAIL(symlink("anything", "file"), EEXIST);
  MUST_FAIL(truncate("folder", 0), EISDIR);
  MUST_FAIL(truncate("missing", 0), ENOENT);
  MUST_FAIL(chdir("file"), ENOTDIR);
  MUST_FAIL(chdir("missing"), ENOENT);
  MUST_FAIL(readlink("folder", text, sizeof text), EINVAL);
  MUST_FAIL(read(999, text, sizeof text), EBADF);
  MUST_FAIL(openat(999, "file", O_RDONLY), EBADF);

  const int folder = open_file("folder", O_RDONLY), file = open_file("file", O_RDONLY);
  MUST_FAIL(read(folder, text, sizeof text), EISDIR);
  MUST_FAIL(openat(file, "below", O_RDONLY), ENOTDIR);
  MUST_FAIL(ftruncate(file, 0), EINVAL);
  MUST_FAIL(open((const char*)16, O_RDONLY), EFAULT);
  struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
  MUST_FAIL(syscall(SYS_openat2, folder, "../file", &how, sizeof how), EXDEV);
  how.resolve = RESOLVE_NO_SYMLINKS;
  MUST_FAIL(syscall(SYS_openat2, AT_FDCWD, "loop a", &how, sizeof how), ELOOP);
  char name[300];
  memset(name, 'n', sizeof name);
  name[256] = '\0';
  MUST_FAIL(open(name, O_WRONLY | O_CREAT, 0644), ENAMETOOLONG);

  MUST_FAIL(mkdir("missing/.", 0755), ENOENT);
  MUST_FAIL(open("missing/.", O_WRONLY | O_CREAT, 0644), ENOENT);
  MUST_FAIL(rename("file", "missing/."), ENOENT);
  MUST_FAIL(link("file", "missing/."), ENOENT);
  // Flags that exclude each other: RWF_APPEND and RWF_NOAPPEND.
  const int writable = open_file("file", O_WRONLY);
  const struct iovec part = {text, sizeof text};
  CHECK(pwritev2(writable, &part, 1, 0, 0x10 | 0x20) == -1);
  return 0;
}
