// The file system's own speed with many files: creates a tree with the fewest calls.
//
//   many_loop DIR FILES BYTES PER_DIRECTORY
//
// The tree is that of a set with {files_per_directory: PER_DIRECTORY, depth: 1, spread: even}: the
// first files are in DIR, the others in d000, d001 … A file is created relative to its directory,
// which stays open. Prints the seconds since the first call after each 100,000 files.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop.h"

enum { kStep = 100000 };

static int make_directory(int root, uint64_t number) {
  char name[32];
  snprintf(name, sizeof name, "d%03llu", (unsigned long long)number);
  check(mkdirat(root, name, 0755) == 0, name);
  const int directory = openat(root, name, O_RDONLY | O_DIRECTORY);
  check(directory >= 0, name);
  return directory;
}

static void make_file(int directory, uint64_t number, const char* bytes, size_t size) {
  char name[32];
  snprintf(name, sizeof name, "f%06llu", (unsigned long long)number);
  const int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0644);
  check(file >= 0, name);
  if (size > 0) check(write(file, bytes, size) == (ssize_t)size, name);
  check(close(file) == 0, name);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int root = open(argv[1], O_RDONLY | O_DIRECTORY);
  check(root >= 0, argv[1]);
  const uint64_t files = strtoull(argv[2], NULL, 10);
  const size_t size = (size_t)strtoull(argv[3], NULL, 10);
  const uint64_t per_directory = strtoull(argv[4], NULL, 10);
  check(per_directory > 0, "PER_DIRECTORY");
  char* const bytes = malloc(size + 1);
  check(bytes != NULL, "memory");
  for (size_t i = 0; i < size; ++i) bytes[i] = (char)rand();
  int directory = root;
  const double start = now();
  for (uint64_t i = 0; i < files; ++i) {
    if (i > 0 && i % per_directory == 0) {
      if (directory != root) close(directory);
      directory = make_directory(root, i / per_directory - 1);
    }
    make_file(directory, i, bytes, size);
    if ((i + 1) % kStep == 0) printf("%.6f\n", now() - start);
  }
  return 0;
}
