// Children that begin another program: by vfork and by posix_spawn, with files arranged for them.
#include <spawn.h>

#include "check.h"

extern char** environ;

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "--child") == 0) {
    const size_t offset = (size_t)atoi(argv[2]);
    CHECK(lseek(1, 0, SEEK_CUR) == (off_t)offset);
    write_some(1, offset, 100);
    make_file(argv[3], offset + 1);
    return 0;
  }
  begin(argc, argv);
  const int out = open_file("out", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  write_some(out, 0, 10);

  posix_spawn_file_actions_t actions;
  CHECK(posix_spawn_file_actions_init(&actions) == 0);
  CHECK(posix_spawn_file_actions_adddup2(&actions, out, 1) == 0);
  CHECK(posix_spawn_file_actions_addopen(&actions, 5, "opened", O_WRONLY | O_CREAT, 0600) == 0);
  CHECK(posix_spawn_file_actions_addclose(&actions, 5) == 0);
  char* const first[] = {argv[0], "--child", "10", "by first", NULL};
  pid_t child;
  CHECK(posix_spawn(&child, argv[0], &actions, NULL, first, environ) == 0);
  expect_end(child);
  posix_spawn_file_actions_destroy(&actions);
  write_some(out, 110, 20);

  // The child of vfork has a descriptor table of its own although it shares the memory.
  MUST(mkdir("folder", 0755));
  char* const second[] = {argv[0], "--child", "130", "by second", NULL};
  child = vfork();
  if (child == 0) {
    if (dup2(out, 1) != 1 || chdir("folder") != 0) _exit(3);
    execv(argv[0], second);
    _exit(4);
  }
  CHECK(child > 0);
  expect_end(child);
  write_some(out, 230, 5);
  make_file("beside", 3);  // the child's working directory was its own

  // One whose program does not exist.
  char* const third[] = {"./missing", NULL};
  CHECK(posix_spawn(&child, "./missing", NULL, NULL, third, environ) == ENOENT);
  CHECK(size_of(out) == 235);
  return 0;
}
