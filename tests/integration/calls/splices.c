// Bytes go from a file through a pipe into a file, without passing through the program.
#include <sys/uio.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("source", 40000);
  const int source = open_file("source", O_RDONLY);
  const int copy = open_file("copy", O_RDWR | O_CREAT | O_EXCL);
  int ends[2], others[2];
  MUST(pipe(ends));
  MUST(pipe(others));
  for (int i = 0; i < 10; ++i) {
    CHECK(splice(source, NULL, ends[1], NULL, 4000, SPLICE_F_MOVE) == 4000);
    CHECK(splice(ends[0], NULL, copy, NULL, 4000, SPLICE_F_MOVE | SPLICE_F_MORE) == 4000);
  }
  CHECK(splice(source, NULL, ends[1], NULL, 4000, 0) == 0);
  CHECK(lseek(source, 0, SEEK_CUR) == 40000 && size_of(copy) == 40000);

  // With offsets, which leave the positions alone.
  loff_t from = 100, to = 60000;
  CHECK(splice(source, &from, ends[1], NULL, 2000, 0) == 2000);
  CHECK(tee(ends[0], others[1], 2000, 0) == 2000);
  CHECK(splice(ends[0], NULL, copy, &to, 2000, 0) == 2000);
  CHECK(from == 2100 && to == 62000 && lseek(copy, 0, SEEK_CUR) == 40000);
  char text[3000];
  CHECK(read(others[0], text, sizeof text) == 2000);

  // From the program's memory.
  struct iovec part = {text, 1000};
  CHECK(vmsplice(ends[1], &part, 1, 0) == 1000);
  CHECK(splice(ends[0], NULL, copy, NULL, 5000, 0) == 1000);
  CHECK(lseek(copy, 0, SEEK_CUR) == 41000 && size_of(copy) == 62000);
  MUST_FAIL(splice(source, NULL, copy, NULL, 10, 0), EINVAL);  // neither is a pipe
  return 0;
}
