// The limit for several clients: the calls of IOR and mdtest in plain loops on MPI, with nothing
// else around them.
//
//   clients_loop data DIR MIB SHIFT same|new warm|cold
//   clients_loop metadata DIR COUNT warm|cold
//
// data: each process writes a file of MIB MiB in pieces of 1 MiB, syncs and closes it; then it
// reads the file of the process SHIFT ranks above in the same pieces. As `ior -a POSIX -F -t 1m -b
// ...m -e -w -r -C`. same: all pieces are one buffer, as in IOR. new: each piece is copied from a
// pool of random data first, so that hardly any two are equal. metadata: each process creates,
// stats and removes COUNT empty files in a directory of its own, by their full paths. As
// `mdtest -F -u -n COUNT`.
//
// Prints a line for each phase: its name, the seconds from the first start to the last end, and the
// seconds between the first and the last start. All processes run on one machine and have one
// clock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

enum { kPiece = 1 << 20, kLongest = 4096, kPool = 64 << 20 };

static int rank, processes, cold;
static const char* folder;
static char path[kLongest];

static void require(int good, const char* what) {
  if (good) return;
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Everything is on the device before a phase, as in filereel; the caches are empty if cold.
static void prepare_caches(void) {
  const int folder_file = open(folder, O_RDONLY | O_DIRECTORY);
  require(folder_file >= 0 && syncfs(folder_file) == 0, folder);
  close(folder_file);
  if (!cold) return;
  const int file = open("/proc/sys/vm/drop_caches", O_WRONLY);
  require(file >= 0 && write(file, "3", 1) == 1, "drop_caches");
  close(file);
}

// `work`: of one process, for `count` pieces or files.
static void measure(const char* name, void (*work)(int count), int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) prepare_caches();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  work(count);
  const double end = now();
  double first = 0, last_start = 0, last = 0;
  MPI_Reduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&start, &last_start, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %.9f %.9f\n", name, last - first, last_start - first);
}

static char* buffer;
static char* pool;  // null: one buffer
static int shift;

static int open_data(int owner, int flags) {
  snprintf(path, sizeof path, "%s/data.%08d", folder, owner);
  const int file = open(path, flags, 0644);
  require(file >= 0, path);
  return file;
}

static void write_data(int count) {
  const int file = open_data(rank, O_CREAT | O_RDWR);
  for (int i = 0; i < count; ++i) {
    if (pool) memcpy(buffer, pool + (size_t)i * (kPiece + 4096) % (kPool - kPiece), kPiece);
    require(pwrite(file, buffer, kPiece, (off_t)i * kPiece) == kPiece, path);
  }
  require(fsync(file) == 0, path);
  require(close(file) == 0, path);
}

static void read_data(int count) {
  const int file = open_data((rank + shift) % processes, O_RDWR);
  for (int i = 0; i < count; ++i) {
    require(pread(file, buffer, kPiece, (off_t)i * kPiece) == kPiece, path);
  }
  require(close(file) == 0, path);
}

// The names of a file set: on ext4, creating depends on them by a seventh.
static void name_file(int number) {
  snprintf(path, sizeof path, "%s/tree.%d/f%06d", folder, rank, number);
}

static void create_files(int count) {
  for (int i = 0; i < count; ++i) {
    name_file(i);
    const int file = open(path, O_CREAT | O_WRONLY, 0644);
    require(file >= 0, path);
    require(close(file) == 0, path);
  }
}

static void stat_files(int count) {
  struct stat seen;
  for (int i = 0; i < count; ++i) {
    name_file(i);
    require(stat(path, &seen) == 0, path);
  }
}

static void remove_files(int count) {
  for (int i = 0; i < count; ++i) {
    name_file(i);
    require(unlink(path) == 0, path);
  }
}

static char* random_memory(size_t size) {
  char* memory = aligned_alloc(4096, size);
  require(memory != NULL, "memory");
  for (size_t i = 0; i < size; ++i) memory[i] = (char)rand();
  return memory;
}

static void measure_data(int mib, int same) {
  srand((unsigned)rank);
  buffer = random_memory(kPiece);
  if (!same) pool = random_memory(kPool);
  measure("write", write_data, mib);
  measure("read", read_data, mib);
}

static void measure_metadata(int count) {
  snprintf(path, sizeof path, "%s/tree.%d", folder, rank);
  require(mkdir(path, 0755) == 0, path);
  measure("create", create_files, count);
  measure("stat", stat_files, count);
  measure("remove", remove_files, count);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const int data = argc == 7 && strcmp(argv[1], "data") == 0;
  if (!data && !(argc == 5 && strcmp(argv[1], "metadata") == 0)) MPI_Abort(MPI_COMM_WORLD, 2);
  folder = argv[2];
  shift = data ? atoi(argv[4]) : 0;
  cold = strcmp(argv[argc - 1], "cold") == 0;
  data ? measure_data(atoi(argv[3]), strcmp(argv[5], "same") == 0)
       : measure_metadata(atoi(argv[3]));
  MPI_Finalize();
  return 0;
}
