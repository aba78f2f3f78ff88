// The limit for replayed reads: the same preads in a plain C loop, with nothing else around them.
//
//   pread_loop FILE OFFSETS LENGTH [direct]
//
// OFFSETS is a file of 64-bit numbers. Prints the nanoseconds per read. "direct" goes round the C
// library, which takes part of the time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

static inline ssize_t direct_pread(int file, char* to, size_t length, int64_t offset) {
#ifdef __x86_64__
  ssize_t result;
  register int64_t fourth __asm__("r10") = offset;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_pread64), "D"(file), "S"(to), "d"(length), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
#else
  return syscall(SYS_pread64, file, to, length, offset);
#endif
}

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  const size_t length = strtoull(argv[3], NULL, 10);
  FILE* list = fopen(argv[2], "rb");
  check(list && fseek(list, 0, SEEK_END) == 0, argv[2]);
  const size_t count = (size_t)ftell(list) / sizeof(int64_t);
  rewind(list);
  int64_t* offsets = malloc(count * sizeof *offsets);
  check(offsets && fread(offsets, sizeof *offsets, count, list) == count, argv[2]);
  fclose(list);
  const int file = open(argv[1], O_RDONLY);
  check(file >= 0, argv[1]);
  char* buffer = aligned_alloc(4096, (length + 4095) / 4096 * 4096);
  check(buffer != NULL, "memory");
  memset(buffer, 1, length);

  const double start = now();
  if (argc == 5) {
    for (size_t i = 0; i < count; ++i) {
      check(direct_pread(file, buffer, length, offsets[i]) == (ssize_t)length, argv[1]);
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      check(pread(file, buffer, length, offsets[i]) == (ssize_t)length, argv[1]);
    }
  }
  printf("%.2f\n", (now() - start) * 1e9 / (double)count);
  return 0;
}
