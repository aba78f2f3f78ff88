// The limit for filereel: the same calls in a plain C loop, with nothing else around them.
//
//   plain_loop create LIST DIR       makes the tree below DIR
//   plain_loop copy LIST FROM TO     copies it by read and write
//
// LIST has a line for each entry in order: "d PATH" or "f SIZE PATH". Prints the seconds from the
// first call to the return of the last one.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

enum { kBlock = 128 * 1024, kLongest = 4096 };

struct Entry {
  char* path;
  int64_t size;  // -1: a directory
};

static struct Entry* read_list(const char* name, size_t* count) {
  FILE* list = fopen(name, "r");
  check(list != NULL, name);
  struct Entry* entries = NULL;
  size_t room = 0;
  char line[kLongest + 32];
  *count = 0;
  while (fgets(line, sizeof line, list)) {
    line[strcspn(line, "\n")] = '\0';
    if (*count == room) {
      room = room ? room * 2 : 1024;
      entries = realloc(entries, room * sizeof *entries);
      check(entries != NULL, "memory");
    }
    struct Entry* entry = &entries[(*count)++];
    char* path = line + 2;
    entry->size = line[0] == 'd' ? -1 : strtoll(path, &path, 10);
    entry->path = strdup(path + (line[0] == 'f'));
  }
  fclose(list);
  return entries;
}

int main(int argc, char** argv) {
  const int copies = argc == 5 && strcmp(argv[1], "copy") == 0;
  if (!copies && !(argc == 4 && strcmp(argv[1], "create") == 0)) return 2;
  size_t count = 0;
  struct Entry* entries = read_list(argv[2], &count);
  const char* to = argv[argc - 1];
  char* buffer = aligned_alloc(4096, kBlock);
  for (size_t i = 0; i < kBlock; ++i) buffer[i] = (char)rand();
  char from_path[2 * kLongest], to_path[2 * kLongest];

  const double start = now();
  check(mkdir(to, 0755) == 0, to);
  for (size_t i = 0; i < count; ++i) {
    const struct Entry* entry = &entries[i];
    snprintf(to_path, sizeof to_path, "%s/%s", to, entry->path);
    if (entry->size < 0) {
      check(mkdir(to_path, 0755) == 0, to_path);
      continue;
    }
    int in = -1;
    if (copies) {
      snprintf(from_path, sizeof from_path, "%s/%s", argv[3], entry->path);
      in = open(from_path, O_RDONLY);
      check(in >= 0, from_path);
    }
    const int out = open(to_path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    check(out >= 0, to_path);
    for (int64_t at = 0; at < entry->size; at += kBlock) {
      const size_t length = (size_t)(entry->size - at < kBlock ? entry->size - at : kBlock);
      if (copies) check(read(in, buffer, length) == (ssize_t)length, from_path);
      check(write(out, buffer, length) == (ssize_t)length, to_path);
    }
    if (copies) close(in);
    check(close(out) == 0, to_path);
  }
  printf("%.6f\n", now() - start);
  return 0;
}
