// Threads make and remove files of their own, and write to one open file that all share.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 60 };

static int shared;

static void* work(void* argument) {
  const int number = *(const int*)argument;
  char name[64], moved[64];
  for (int i = 0; i < kRounds; ++i) {
    snprintf(name, sizeof name, "thread %d file %d", number, i);
    const int fd = open_file(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC);
    write_some(fd, 0, (size_t)(100 * number + i));
    MUST(lseek(fd, 0, SEEK_SET));
    char text[1000];
    CHECK(read(fd, text, sizeof text) == 100 * number + i);
    MUST(close(fd));
    const off_t at = (off_t)(i * kThreads + number) * 16;
    CHECK(pwrite(shared, text_at((size_t)at, 16), 16, at) == 16);
    CHECK(write(shared, "", 0) == 0);
    if (i % 3 == 0) {
      MUST(unlink(name));
    } else if (i % 3 == 1) {
      snprintf(moved, sizeof moved, "common %d", (i + number) % 8);
      MUST(rename(name, moved));  // over what another thread has put there
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  begin(argc, argv);
  shared = open_file("shared", O_RDWR | O_CREAT | O_EXCL);
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(size_of(shared) == kThreads * kRounds * 16);
  return 0;
}
