// Two processes append to one file, each through an open file of its own; neither knows where.
#include "check.h"

enum { kLines = 200, kLength = 40 };

static void append(char mark) {
  const int fd = open_file("log", O_WRONLY | O_APPEND);
  char line[kLength];
  memset(line, mark, sizeof line);
  line[kLength - 1] = '\n';
  for (int i = 0; i < kLines; ++i) CHECK(write(fd, line, kLength) == kLength);
  CHECK(lseek(fd, 0, SEEK_CUR) % kLength == 0);
  // An offset does not help: it is appended all the same.
  CHECK(pwrite(fd, line, kLength, 0) == kLength);
  MUST(close(fd));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("log", 10 * kLength);
  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    append('c');
    _exit(0);
  }
  append('p');
  expect_end(child);
  const int fd = open_file("log", O_RDWR);
  CHECK(size_of(fd) == (10 + 2 * (kLines + 1)) * kLength);
  // Appending can be switched on and off.
  write_some(fd, 0, 8);
  MUST(fcntl(fd, F_SETFL, O_APPEND));
  write_some(fd, 0, 8);
  MUST(fcntl(fd, F_SETFL, 0));
  CHECK(size_of(fd) == (10 + 2 * (kLines + 1)) * kLength + 8);
  CHECK(lseek(fd, 4, SEEK_SET) == 4);
  write_some(fd, 4, 8);
  CHECK(size_of(fd) == (10 + 2 * (kLines + 1)) * kLength + 8);
  return 0;
}
