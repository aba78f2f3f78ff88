// Locks of open files and of ranges, between processes that wait for each other.
#include <sys/file.h>

#include "check.h"

static struct flock range(short type, off_t start, off_t length) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return lock;
}

static void add_line(int fd) {
  struct flock whole = range(F_WRLCK, 0, 0), none = range(F_UNLCK, 0, 0);
  for (int i = 0; i < 50; ++i) {
    MUST(fcntl(fd, F_SETLKW, &whole));
    const off_t end = lseek(fd, 0, SEEK_END);
    write_some(fd, (size_t)end, 10);
    CHECK(size_of(fd) == end + 10);  // nobody else has written meanwhile
    MUST(fcntl(fd, F_SETLK, &none));
  }
}

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("locked", 100);
  const int fd = open_file("locked", O_RDWR);
  MUST(flock(fd, LOCK_EX));
  struct flock part = range(F_WRLCK, 10, 20);
  MUST(fcntl(fd, F_SETLK, &part));
  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    const int own = open_file("locked", O_RDWR);
    MUST_FAIL(flock(own, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    MUST_FAIL(fcntl(own, F_SETLK, &part), EAGAIN);
    struct flock beside = range(F_WRLCK, 30, 5), asked = range(F_RDLCK, 0, 0);
    MUST(fcntl(own, F_SETLK, &beside));
    CHECK(fcntl(own, F_GETLK, &asked) == 0 && asked.l_type == F_WRLCK);
    // The inherited one shares the parent's lock and gives it up for both.
    MUST(flock(fd, LOCK_UN));
    MUST(flock(own, LOCK_EX));
    _exit(0);
  }
  expect_end(child);
  MUST(flock(fd, LOCK_SH));
  part.l_type = F_UNLCK;
  MUST(fcntl(fd, F_SETLK, &part));
  MUST(flock(fd, LOCK_UN));

  // Locks of open file descriptions.
  struct flock owned = range(F_RDLCK, 0, 8);
  MUST(fcntl(fd, F_OFD_SETLK, &owned));
  owned.l_type = F_UNLCK;
  MUST(fcntl(fd, F_OFD_SETLKW, &owned));

  const pid_t other = (pid_t)MUST(fork());
  if (other == 0) {
    add_line(open_file("locked", O_RDWR));
    _exit(0);
  }
  add_line(open_file("locked", O_RDWR));
  expect_end(other);
  CHECK(size_of(fd) == 100 + 2 * 50 * 10);
  return 0;
}
