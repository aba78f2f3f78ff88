// The limit for replayed lookups: the same stats by path in a plain C loop, each timed.
//
//   stat_loop DIRECTORY NAMES PASSES [warm]
//
// NAMES is a file of paths below DIRECTORY, one per line, each used once in a pass. "warm": a pass
// that is not timed comes first. Prints the mean of a call in nanoseconds.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// Returns the time in the calls.
static uint64_t pass(char** names, size_t count) {
  uint64_t sum = 0;
  struct stat info;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t begin = now_ns();
    const int result = stat(names[i], &info);
    sum += now_ns() - begin;
    check(result == 0, names[i]);
  }
  return sum;
}

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  FILE* list = fopen(argv[2], "r");
  check(list != NULL, argv[2]);
  char** names = NULL;
  size_t count = 0, room = 0;
  char line[4096];
  while (fgets(line, sizeof line, list)) {
    line[strcspn(line, "\n")] = '\0';
    if (count == room) names = realloc(names, (room = 2 * room + 64) * sizeof *names);
    check(names != NULL && (names[count++] = strdup(line)) != NULL, "memory");
  }
  fclose(list);
  check(chdir(argv[1]) == 0, argv[1]);
  if (argc == 5) pass(names, count);
  uint64_t sum = 0;
  const size_t passes = strtoull(argv[3], NULL, 10);
  for (size_t i = 0; i < passes; ++i) sum += pass(names, count);
  printf("%.1f\n", (double)sum / (double)(count * passes));
  return 0;
}
