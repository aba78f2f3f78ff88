// The limit for a replay of many threads: the same threads with the same calls and orders, with
// nothing else around them.
//
//   lanes_loop run PROGRAM DIR YIELDS  prints the seconds from the first call of any thread to the
//                                      return of the last one
//   lanes_loop trips COUNT [CORE CORE] prints the nanoseconds of a futex round trip: a thread wakes
//                                      another one, waits, and is woken by it. CORE: of each
//
// A waiting thread yields its core YIELDS times before it sleeps.
// PROGRAM has numbers of 64 bits: of files (f0, f1 … in DIR) and of threads; for each thread the
// number of its steps, and these: kind, file or thread, offset or count, length.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

enum { kRead, kWrite, kOpen, kClose, kWait, kSignal };
enum { kMostFiles = 64, kMostThreads = 64, kBuffer = 1 << 16 };

struct Step {
  int64_t kind, file, offset, length;
};

// What a thread has signalled. A futex is called only if somebody sleeps.
struct Progress {
  _Alignas(64) _Atomic uint32_t done;
  _Atomic uint32_t sleepers;
};

struct Thread {
  int64_t number, count;
  struct Step* steps;
  double start, end;
};

static struct Progress progress[kMostThreads];
static int files[kMostFiles];
static int64_t yields;
static pthread_barrier_t all_ready;

static void wait_for(int64_t thread, uint32_t count) {
  struct Progress* one = &progress[thread];
  for (int64_t turn = 0;; ++turn) {
    const uint32_t done = atomic_load(&one->done);
    if ((int32_t)(done - count) >= 0) return;
    if (turn < yields) {
      sched_yield();
      continue;
    }
    atomic_fetch_add(&one->sleepers, 1);
    syscall(SYS_futex, &one->done, FUTEX_WAIT_PRIVATE, done, NULL);
    atomic_fetch_sub(&one->sleepers, 1);
  }
}

static void signal_from(int64_t thread) {
  struct Progress* one = &progress[thread];
  atomic_fetch_add(&one->done, 1);
  if (atomic_load(&one->sleepers) == 0) return;
  syscall(SYS_futex, &one->done, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void* run_steps(void* argument) {
  struct Thread* self = argument;
  int opened[kMostFiles];
  memcpy(opened, files, sizeof opened);
  char* buffer = aligned_alloc(4096, kBuffer);
  check(buffer != NULL, "memory");
  memset(buffer, (int)self->number, kBuffer);
  pthread_barrier_wait(&all_ready);

  self->start = now();
  for (const struct Step* step = self->steps; step < self->steps + self->count; ++step) {
    char name[32];
    switch (step->kind) {
      case kRead:
        check(pread(opened[step->file], buffer, (size_t)step->length, step->offset) == step->length,
              "pread");
        break;
      case kWrite:
        check(
            pwrite(opened[step->file], buffer, (size_t)step->length, step->offset) == step->length,
            "pwrite");
        break;
      case kOpen:
        snprintf(name, sizeof name, "f%d", (int)step->file);
        opened[step->file] = open(name, O_RDWR);
        check(opened[step->file] >= 0, name);
        break;
      case kClose:
        check(close(opened[step->file]) == 0, "close");
        break;
      case kWait:
        wait_for(step->file, (uint32_t)step->offset);
        break;
      default:
        signal_from(self->number);
    }
  }
  self->end = now();
  return NULL;
}

static void run_program(const char* program, const char* folder) {
  FILE* in = fopen(program, "rb");
  int64_t counts[2];
  check(in && fread(counts, sizeof counts, 1, in) == 1, program);
  check(counts[0] <= kMostFiles && counts[1] <= kMostThreads, "too many");
  struct Thread threads[kMostThreads];
  for (int64_t i = 0; i < counts[1]; ++i) {
    struct Thread* one = &threads[i];
    one->number = i;
    check(fread(&one->count, sizeof one->count, 1, in) == 1, program);
    const size_t steps = (size_t)one->count;
    one->steps = malloc(steps * sizeof *one->steps);
    check(one->steps && fread(one->steps, sizeof *one->steps, steps, in) == steps, program);
  }
  fclose(in);
  check(chdir(folder) == 0, folder);
  for (int64_t i = 0; i < counts[0]; ++i) {
    char name[32];
    snprintf(name, sizeof name, "f%d", (int)i);
    files[i] = open(name, O_RDWR);
    check(files[i] >= 0, name);
  }
  pthread_barrier_init(&all_ready, NULL, (unsigned)counts[1]);
  pthread_t ids[kMostThreads];
  for (int64_t i = 0; i < counts[1]; ++i) {
    check(pthread_create(&ids[i], NULL, run_steps, &threads[i]) == 0, "thread");
  }
  double start = 1e300, end = 0;
  for (int64_t i = 0; i < counts[1]; ++i) {
    pthread_join(ids[i], NULL);
    if (threads[i].start < start) start = threads[i].start;
    if (threads[i].end > end) end = threads[i].end;
  }
  printf("%.9f\n", end - start);
}

static uint32_t trips;
static int cores[2] = {-1, -1};

static void pin_to(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  check(sched_setaffinity(0, sizeof set, &set) == 0, "affinity");
}

static void* answer(void* unused) {
  pin_to(cores[1]);
  for (uint32_t i = 1; i <= trips; ++i) {
    wait_for(0, i);
    signal_from(1);
  }
  return unused;
}

static void measure_trips(void) {
  pin_to(cores[0]);
  pthread_t other;
  check(pthread_create(&other, NULL, answer, NULL) == 0, "thread");
  usleep(10000);
  const double start = now();
  for (uint32_t i = 1; i <= trips; ++i) {
    signal_from(0);
    wait_for(1, i);
  }
  printf("%.1f\n", (now() - start) * 1e9 / trips);
  pthread_join(other, NULL);
}

int main(int argc, char** argv) {
  if (argc == 5 && strcmp(argv[1], "run") == 0) {
    yields = atoi(argv[4]);
    run_program(argv[2], argv[3]);
  } else if ((argc == 3 || argc == 5) && strcmp(argv[1], "trips") == 0) {
    trips = (uint32_t)strtoul(argv[2], NULL, 10);
    for (int i = 3; i < argc; ++i) cores[i - 3] = atoi(argv[i]);
    measure_trips();
  } else {
    return 2;
  }
  return 0;
}
