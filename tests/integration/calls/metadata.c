// What is known of files, and changes of it: modes, owners, times, access, nodes and the umask.
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <utime.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  umask(027);
  const int fd = (int)MUST(open("file", O_RDWR | O_CREAT | O_EXCL, 0666));
  MUST(mkdir("folder", 0777));
  umask(0);
  MUST(mkdir("open folder", 01777));
  MUST(mknod("pipe", S_IFIFO | 0600, 0));
  MUST(mknod("by mknod", S_IFREG | 0604, 0));
  MUST(symlink("file", "link"));
  write_some(fd, 0, 123);
  struct statx info;
  MUST(statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, &info));
  CHECK((info.stx_mode & 07777) == 0640 && info.stx_size == 123);
  MUST(statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &info));
  MUST(statx(AT_FDCWD, "link", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &info));
  CHECK(S_ISLNK(info.stx_mode));

  MUST(chmod("link", 0751));
  MUST(fchmod(fd, 0755));
  MUST(fchmodat(AT_FDCWD, "folder", 02770, 0));
  MUST(chown("file", (uid_t)-1, (gid_t)-1));
  MUST(fchown(fd, getuid(), getgid()));
  MUST(lchown("link", getuid(), getgid()));

  const struct timespec past[] = {{1000000000, 123456789}, {1234567890, 987654321}};
  const struct timespec only_one[] = {{0, UTIME_OMIT}, {1300000000, 5}};
  MUST(utimensat(AT_FDCWD, "file", past, 0));
  MUST(utimensat(AT_FDCWD, "link", past, AT_SYMLINK_NOFOLLOW));
  MUST(futimens(fd, only_one));
  MUST(utimensat(AT_FDCWD, "folder", NULL, 0));
  const struct utimbuf seconds = {500000000, 600000000};
  MUST(utime("by mknod", &seconds));
  struct stat seen;
  CHECK(fstat(fd, &seen) == 0 && seen.st_mtim.tv_sec == 1300000000);
  CHECK(seen.st_atim.tv_nsec == 123456789);

  MUST(access("file", R_OK | W_OK));
  MUST(faccessat(AT_FDCWD, "link", F_OK, AT_SYMLINK_NOFOLLOW));
  MUST_FAIL(access("missing", F_OK), ENOENT);
  MUST_FAIL(access("by mknod", X_OK), EACCES);
  MUST_FAIL(chmod("missing", 0600), ENOENT);
  struct statfs volume;
  struct statvfs same;
  MUST(statfs("folder", &volume));
  MUST(fstatvfs(fd, &same));
  return 0;
}
