// What the C programs here share.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Ends the program unless `good`; errno says why.
static inline void check(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

// Seconds of CLOCK_MONOTONIC.
static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
