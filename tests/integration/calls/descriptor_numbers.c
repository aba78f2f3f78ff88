// Every way to a new descriptor number, and every way to lose one.
#include <linux/close_range.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  const int fd = open_file("first", O_RDWR | O_CREAT | O_EXCL);
  const int other = open_file("second", O_RDWR | O_CREAT | O_EXCL);
  CHECK(fcntl(fd, F_DUPFD, 50) == 50);
  CHECK(fcntl(fd, F_DUPFD_CLOEXEC, 50) == 51);
  CHECK(dup2(fd, 60) == 60);
  CHECK(dup3(fd, 61, O_CLOEXEC) == 61);
  write_some(50, 0, 10), write_some(51, 10, 10), write_some(60, 20, 10), write_some(61, 30, 10);
  CHECK(dup2(fd, fd) == fd);
  MUST_FAIL(dup3(fd, fd, 0), EINVAL);
  MUST_FAIL(dup2(999, 60), EBADF);
  write_some(60, 40, 10);

  // One that is in use is closed first.
  CHECK(dup2(other, 60) == 60);
  write_some(60, 0, 7);
  write_some(other, 7, 7);
  CHECK(size_of(fd) == 50);

  MUST(close_range(51, 60, 0));
  MUST_FAIL(write(51, "x", 1), EBADF);
  MUST_FAIL(write(60, "x", 1), EBADF);
  write_some(61, 50, 10);
  write_some(50, 60, 10);
  MUST(close(fd));
  write_some(50, 70, 10);

  // A child has a table of its own, until it shares none of it.
  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    MUST(close_range(50, ~0U, CLOSE_RANGE_UNSHARE));
    MUST_FAIL(write(50, "x", 1), EBADF);
    write_some(other, 14, 6);
    _exit(0);
  }
  expect_end(child);
  write_some(61, 80, 5);
  write_some(other, 20, 5);
  MUST(close_range(3, ~0U, CLOSE_RANGE_CLOEXEC));
  write_some(61, 85, 5);
  MUST(close(50));
  MUST(close(61));
  MUST_FAIL(close(61), EBADF);

  // The lowest number again and again.
  for (int i = 0; i < 10; ++i) {
    char name[32];
    snprintf(name, sizeof name, "numbered %d", i);
    const int fresh = open_file(name, O_WRONLY | O_CREAT | O_EXCL);
    CHECK(fresh == fd);
    write_some(fresh, 0, (size_t)(i + 1));
    MUST(close(fresh));
  }
  return 0;
}
