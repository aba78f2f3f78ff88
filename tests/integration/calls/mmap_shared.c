// A file is changed through a shared mapping, and read through private ones.
#include <sys/mman.h>

#include "check.h"

enum { kPage = 4096, kPages = 64 };

int main(int argc, char** argv) {
  begin(argc, argv);
  const int fd = open_file("mapped", O_RDWR | O_CREAT | O_EXCL);
  write_some(fd, 0, 1000);
  MUST(ftruncate(fd, kPages * kPage));
  char* at = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(at != MAP_FAILED);
  for (int page = 0; page < kPages; page += 3) memcpy(at + page * kPage + 10, "stored", 6);
  MUST(msync(at, 16 * kPage, MS_SYNC));
  MUST(msync(at + 16 * kPage, 16 * kPage, MS_ASYNC));
  char text[6];
  CHECK(pread(fd, text, 6, 3 * kPage + 10) == 6 && memcmp(text, "stored", 6) == 0);

  // The mapping outlives the descriptor and the name.
  MUST(close(fd));
  MUST(rename("mapped", "renamed"));
  memcpy(at + 63 * kPage, "later", 5);
  MUST(madvise(at, kPages * kPage, MADV_WILLNEED));
  MUST(munmap(at + 32 * kPage, 16 * kPage));  // the middle
  MUST(msync(at, 32 * kPage, MS_SYNC));
  MUST(munmap(at, 32 * kPage));
  MUST(munmap(at + 48 * kPage, 16 * kPage));

  // What is stored in a private mapping stays out of the file.
  const int again = open_file("renamed", O_RDWR);
  char* own = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, again, 3 * kPage);
  CHECK(own != MAP_FAILED && memcmp(own + 10, "stored", 6) == 0);
  memcpy(own + 10, "hidden", 6);
  CHECK(pread(again, text, 6, 3 * kPage + 10) == 6 && memcmp(text, "stored", 6) == 0);

  // A mapping that grows, over a file that grows.
  char* grown = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
  CHECK(grown != MAP_FAILED);
  MUST(ftruncate(again, (kPages + 8) * kPage));
  grown = mremap(grown, kPage, (kPages + 8) * kPage, MREMAP_MAYMOVE);
  CHECK(grown != MAP_FAILED);
  memcpy(grown + (kPages + 7) * kPage, "end", 3);
  MUST(fsync(again));
  return 0;  // the end unmaps what is left
}
