// Files that are made without a name and get one later, or never.
#include "check.h"

static int nameless(int flags) {
  return (int)MUST(open(".", O_TMPFILE | O_RDWR | flags, 0640));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("folder", 0755));
  const int by_proc = nameless(0);
  write_some(by_proc, 0, 4321);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", by_proc);
  MUST(linkat(AT_FDCWD, path, AT_FDCWD, "folder/by proc", AT_SYMLINK_FOLLOW));
  write_some(by_proc, 4321, 100);
  MUST_FAIL(linkat(AT_FDCWD, path, AT_FDCWD, "folder/by proc", AT_SYMLINK_FOLLOW), EEXIST);

  // Those without the privilege for an empty path take the other way.
  const int by_empty_path = nameless(0);
  write_some(by_empty_path, 0, 1234);
  if (linkat(by_empty_path, "", AT_FDCWD, "by empty path", AT_EMPTY_PATH) != 0) {
    CHECK(errno == ENOENT);
    snprintf(path, sizeof path, "/proc/self/fd/%d", by_empty_path);
    MUST(linkat(AT_FDCWD, path, AT_FDCWD, "by empty path", AT_SYMLINK_FOLLOW));
  }
  MUST(ftruncate(by_empty_path, 1000));

  const int never = nameless(O_EXCL);
  write_some(never, 0, 99);
  snprintf(path, sizeof path, "/proc/self/fd/%d", never);
  MUST_FAIL(linkat(AT_FDCWD, path, AT_FDCWD, "never", AT_SYMLINK_FOLLOW), ENOENT);
  MUST(close(never));

  // Linked, opened by its name, unlinked, linked again from what is open.
  const int known = open_file("by empty path", O_RDWR);
  CHECK(size_of(known) == 1000);
  MUST(link("by empty path", "second name"));
  MUST(unlink("by empty path"));
  write_some(known, 0, 10);
  MUST(close(by_proc));
  MUST(close(by_empty_path));
  return 0;
}
