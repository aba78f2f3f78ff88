// A folder with 500 names is made, listed in pieces, from the start again, and half removed.
#include <dirent.h>
#include <sys/syscall.h>

#include "check.h"

enum { kNames = 500 };

static int count(int fd, size_t buffer_size) {
  static char buffer[64 << 10];
  int found = 0;
  for (;;) {
    const long got = MUST(syscall(SYS_getdents64, fd, buffer, buffer_size));
    if (got == 0) return found;
    for (long at = 0; at < got; ++found) {
      unsigned short length;
      memcpy(&length, buffer + at + 16, sizeof length);  // d_reclen
      at += length;
    }
  }
}

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("many", 0755));
  const int folder = open_file("many", O_RDONLY | O_DIRECTORY);
  char name[64];
  for (int i = 0; i < kNames; ++i) {
    snprintf(name, sizeof name, "%d %.*s", i, i % 50, text_at((size_t)i, 50));
    const int fd = (int)MUST(openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0644));
    if (i % 7 == 0) write_some(fd, 0, (size_t)i);
    MUST(close(fd));
  }
  CHECK(count(folder, 32 << 10) == kNames + 2);
  CHECK(count(folder, 32 << 10) == 0);
  MUST(lseek(folder, 0, SEEK_SET));
  CHECK(count(folder, 1000) == kNames + 2);

  DIR* names = opendir("many");
  CHECK(names != NULL);
  int removed = 0;
  for (struct dirent* entry; (entry = readdir(names)) != NULL;) {
    if (entry->d_name[0] == '.' || atoi(entry->d_name) % 2 != 0) continue;
    MUST(unlinkat(dirfd(names), entry->d_name, 0));
    ++removed;
  }
  CHECK(removed == kNames / 2);
  MUST(closedir(names));
  MUST_FAIL(rmdir("many"), ENOTEMPTY);
  MUST_FAIL(syscall(SYS_getdents64, 999, name, sizeof name), EBADF);
  return 0;
}
