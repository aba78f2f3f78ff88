// Starts itself again: what is marked close-on-exec is gone then, the rest keeps its offset.
#include "check.h"

static void second_life(void) {
  MUST_FAIL(write(20, "x", 1), EBADF);
  MUST_FAIL(write(22, "x", 1), EBADF);
  CHECK(lseek(21, 0, SEEK_CUR) == 300);
  write_some(21, 300, 200);
  write_some(23, 0, 50);
  CHECK(fcntl(21, F_GETFD) == 0);
  // Numbers that are free again are given to other files.
  const int fresh = open_file("fresh", O_WRONLY | O_CREAT | O_EXCL);
  CHECK(dup2(fresh, 20) == 20);
  write_some(20, 0, 17);
  write_some(fresh, 17, 3);
}

static void place(const char* path, int number) {
  const int fd = open_file(path, O_RDWR | O_CREAT | O_EXCL);
  CHECK(dup2(fd, number) == number);
  MUST(close(fd));
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "--again") == 0) {
    second_life();
    return 0;
  }
  begin(argc, argv);
  place("closed by exec", 20);
  place("kept", 21);
  place("closed by dup3", 22);
  place("no longer marked", 23);
  write_some(20, 0, 100);
  write_some(21, 0, 300);
  MUST(fcntl(20, F_SETFD, FD_CLOEXEC));
  MUST(fcntl(23, F_SETFD, FD_CLOEXEC));
  MUST(fcntl(23, F_SETFD, 0));
  const int marked = open_file("closed by dup3", O_RDWR | O_CLOEXEC);
  CHECK(dup3(marked, 22, O_CLOEXEC) == 22);
  write_some(22, 0, 30);
  // An exec that fails closes nothing.
  char* const nothing[] = {"no such program", NULL};
  MUST_FAIL(execv("no such program", nothing), ENOENT);
  write_some(22, 30, 30);
  char* const again[] = {argv[0], "--again", NULL};
  MUST(execv(argv[0], again));
  return 1;
}
