// Ways to name what is opened: folders by descriptor, O_PATH, "..", openat2, /proc/self/fd, odd and
// very long names.
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "check.h"

static int open_how(int folder, const char* path, int flags, unsigned long long resolve) {
  struct open_how how = {.flags = (unsigned long long)flags, .resolve = resolve};
  if ((flags & O_CREAT) != 0) how.mode = 0644;
  return (int)MUST(syscall(SYS_openat2, folder, path, &how, sizeof how));
}

static void make_at(int folder, const char* path, size_t size) {
  const int fd = (int)MUST(openat(folder, path, O_WRONLY | O_CREAT | O_EXCL, 0644));
  write_some(fd, 0, size);
  MUST(close(fd));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("one", 0755));
  MUST(mkdir("one/two", 0755));
  MUST(mkdirat(AT_FDCWD, "one//two/./three/", 0755));
  const int two = open_file("one/two", O_PATH);
  make_at(two, "below", 1);
  make_at(two, "../beside", 2);
  make_at(two, "three/../../../top", 3);
  const int three = (int)MUST(openat(two, "three", O_RDONLY | O_DIRECTORY));
  MUST(close(two));
  make_at(three, "..//below too", 4);
  MUST(symlink("../..", "one/two/up"));
  make_at(three, "../up/by link", 5);
  write_some(open_how(three, "by openat2", O_WRONLY | O_CREAT, RESOLVE_BENEATH), 0, 6);

  // O_PATH names a file without opening it; /proc opens what it names.
  const int named = open_file("top", O_PATH);
  MUST_FAIL(write(named, "x", 1), EBADF);
  struct stat info;
  CHECK(fstat(named, &info) == 0 && info.st_size == 3);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", named);
  MUST(rename("top", "top renamed"));
  const int opened = open_file(path, O_WRONLY | O_APPEND);
  write_some(opened, 3, 30);
  MUST(fchdir(three));
  make_at(AT_FDCWD, "here", 7);
  make_at(AT_FDCWD, "../../../creat too", 8);
  MUST(close(creat("made by creat", 0600)));
  const int cut = (int)MUST(creat("here", 0600));
  write_some(cut, 0, 2);

  // Names are bytes.
  make_at(AT_FDCWD, "new\nline", 1);
  make_at(AT_FDCWD, "quote\"back\\slash", 2);
  make_at(AT_FDCWD, "\xff\xfe not text", 3);
  make_at(AT_FDCWD, " blank ", 4);

  // Deep down, where paths are nearly as long as they may be.
  char name[64];
  memset(name, 'd', 30);
  name[30] = '\0';
  for (int i = 0; i < 115; ++i) {
    MUST(mkdir(name, 0755));
    MUST(chdir(name));
  }
  make_at(AT_FDCWD, "at the bottom", 9);
  return 0;
}
