// A child that shares the working directory changes it and ends; then a program is started in a
// directory below it.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"

extern char** environ;

static int change(void* directory) {
  return chdir(directory) != 0;
}

static void make(const char* name) {
  MUST(close(open_file(name, O_WRONLY | O_CREAT)));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("e", 0755));
  MUST(mkdir("e/e", 0755));
  MUST(mkdir("e/e/f", 0755));
  char* const stack = malloc(1 << 16);
  const int child = (int)MUST(clone(change, stack + (1 << 16), CLONE_FS | SIGCHLD, "e"));
  MUST(waitpid(child, 0, 0));
  make("in e");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, "e");
  char* const words[] = {"touch", "in e of e", 0};
  pid_t started = 0;
  if (posix_spawnp(&started, "touch", &actions, 0, words, environ) != 0) return 1;
  MUST(waitpid(started, 0, 0));
  make("in e again");
  return 0;
}
