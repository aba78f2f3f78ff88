// What the programs of this folder share. Each makes the calls of one family in a folder of its
// own, expects one outcome of each, and leaves a tree that a replay of its recording must leave
// too.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : surprised(#condition, __FILE__, __LINE__))

// The result of a call that sets errno and returns -1 if it fails.
#define MUST(call) must((long)(call), #call, __FILE__, __LINE__)

// A call that must fail with this error.
#define MUST_FAIL(call, error) CHECK((errno = 0, (long)(call)) == -1 && errno == (error))

static inline void surprised(const char* what, const char* file, int line) {
  fprintf(stderr, "%s:%d: %s (errno: %s)\n", file, line, what, strerror(errno));
  _exit(1);
}

static inline long must(long result, const char* what, const char* file, int line) {
  if (result == -1) surprised(what, file, line);
  return result;
}

// Works in the folder that is named first, else in the current one.
static inline void begin(int argc, char** argv) {
  if (argc > 1) MUST(chdir(argv[1]));
  umask(022);
}

static inline int open_file(const char* path, int flags) {
  return (int)MUST(open(path, flags, 0644));
}

// Text that says where in the file it stands; `length` is at most 64 KiB.
static inline const char* text_at(size_t offset, size_t length) {
  static _Thread_local char text[64 << 10];
  CHECK(length <= sizeof text);
  for (size_t i = 0; i < length; ++i) text[i] = (char)('a' + (offset + i) % 23);
  return text;
}

static inline void write_some(int fd, size_t offset, size_t length) {
  CHECK(write(fd, text_at(offset, length), length) == (ssize_t)length);
}

static inline void make_file(const char* path, size_t size) {
  const int fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  write_some(fd, 0, size);
  MUST(close(fd));
}

static inline off_t size_of(int fd) {
  struct stat info;
  MUST(fstat(fd, &info));
  return info.st_size;
}

static inline void expect_end(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}
