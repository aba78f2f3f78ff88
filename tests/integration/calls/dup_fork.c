// One offset for all descriptors of an open file: those that dup made and those that a child has.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  const int one = open_file("shared", O_RDWR | O_CREAT | O_EXCL);
  write_some(one, 0, 1000);
  const int two = (int)MUST(dup(one));
  write_some(two, 1000, 500);
  MUST(close(one));
  CHECK(lseek(two, 0, SEEK_CUR) == 1500);

  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    write_some(two, 1500, 700);
    MUST(lseek(two, 100, SEEK_CUR));
    MUST(close(two));
    _exit(0);
  }
  expect_end(child);
  CHECK(lseek(two, 0, SEEK_CUR) == 2300);
  write_some(two, 2300, 10);

  // The child's own open of the same name has an offset of its own.
  const pid_t other = (pid_t)MUST(fork());
  if (other == 0) {
    const int own = open_file("shared", O_RDWR);
    write_some(own, 0, 64);
    char text[100];
    CHECK(read(own, text, sizeof text) == sizeof text);
    _exit(0);
  }
  expect_end(other);
  write_some(two, 2310, 90);
  CHECK(size_of(two) == 2400);

  // A child inherits what the parent has closed since.
  int gate[2];
  MUST(pipe(gate));
  const pid_t heir = (pid_t)MUST(fork());
  if (heir == 0) {
    char byte;
    CHECK(read(gate[0], &byte, 1) == 1);
    write_some(two, 2400, 200);
    _exit(0);
  }
  MUST(close(two));
  MUST(unlink("shared"));
  make_file("shared", 5);  // another file with the same name
  CHECK(write(gate[1], "x", 1) == 1);
  expect_end(heir);
  return 0;
}
