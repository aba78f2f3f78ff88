// The limit for replayed reads: the same preads in a plain C loop, with nothing else around them.
//
//   pread_loop FILE OFFSETS LENGTH
//
// OFFSETS is a file of 64-bit numbers. Prints the nanoseconds per read.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void check(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
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
  for (size_t i = 0; i < count; ++i) {
    check(pread(file, buffer, length, offsets[i]) == (ssize_t)length, argv[1]);
  }
  printf("%.2f\n", (now() - start) / (double)count);
  return 0;
}
