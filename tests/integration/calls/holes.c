// Files with holes: made by seeking, truncating and punching, and found again.
#include "check.h"

enum { kBlock = 64 << 10 };

static void fill(int fd, off_t block) {
  CHECK(pwrite(fd, text_at((size_t)(block * kBlock), kBlock), kBlock, block * kBlock) == kBlock);
}

int main(int argc, char** argv) {
  begin(argc, argv);
  const int fd = open_file("holes", O_RDWR | O_CREAT | O_EXCL);
  fill(fd, 0), fill(fd, 1), fill(fd, 4), fill(fd, 5), fill(fd, 6);
  MUST(ftruncate(fd, 20L * kBlock));
  CHECK(size_of(fd) == 20L * kBlock);
  CHECK(lseek(fd, 0, SEEK_HOLE) == 2L * kBlock);
  CHECK(lseek(fd, 2L * kBlock, SEEK_DATA) == 4L * kBlock);
  MUST_FAIL(lseek(fd, 8L * kBlock, SEEK_DATA), ENXIO);

  MUST(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5L * kBlock, kBlock));
  CHECK(lseek(fd, 4L * kBlock, SEEK_HOLE) == 5L * kBlock);
  CHECK(lseek(fd, 0, SEEK_CUR) == 5L * kBlock);  // finding moves the position
  write_some(fd, 5 * kBlock, 100);
  MUST(fallocate(fd, FALLOC_FL_KEEP_SIZE, 30L * kBlock, kBlock));
  CHECK(size_of(fd) == 20L * kBlock);
  MUST(fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, kBlock));
  MUST(fallocate(fd, 0, 20L * kBlock, kBlock));
  CHECK(size_of(fd) == 21L * kBlock);
  MUST_FAIL(fallocate(fd, 0, 0, 0), EINVAL);

  MUST(truncate("holes", 10L * kBlock));
  CHECK(size_of(fd) == 10L * kBlock);
  MUST(ftruncate(fd, 6L * kBlock + 77));
  CHECK(pwrite(fd, "far", 3, 1L << 32) == 3);  // above 4 GiB
  CHECK(size_of(fd) == (1L << 32) + 3);
  MUST(ftruncate(fd, 7L * kBlock));

  MUST(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 2L * kBlock));
  CHECK(size_of(fd) == 5L * kBlock);
  MUST(fallocate(fd, FALLOC_FL_INSERT_RANGE, kBlock, kBlock));
  CHECK(size_of(fd) == 6L * kBlock);

  const int cut = open_file("holes", O_WRONLY | O_TRUNC);
  CHECK(size_of(cut) == 0 && size_of(fd) == 0);
  write_some(cut, 0, 4242);
  return 0;
}
