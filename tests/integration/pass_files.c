// Eight threads pass files to each other: one creates a file, the next renames it, the next reads
// and removes it. Whoever replays this without the order between the threads fails.
//   pass_files FILES     works in the current directory
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kThreads = 8, kStages = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned char *stage;  // of each file: how many threads have had it
static long files;

static void fail(const char *what, long file) {
  fprintf(stderr, "pass_files: %s of file %ld: ", what, file);
  perror("");
  exit(1);
}

static void work(long file, int step) {
  char fresh[64], renamed[64], text[256] = "passed on";
  snprintf(fresh, sizeof fresh, "new-%ld", file);
  snprintf(renamed, sizeof renamed, "file-%ld", file);
  if (step == 0) {
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0 || write(fd, text, sizeof text) != sizeof text || close(fd) != 0) {
      fail("making", file);
    }
  } else if (step == 1) {
    if (rename(fresh, renamed) != 0) fail("renaming", file);
  } else {
    int fd = open(renamed, O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text) != sizeof text || close(fd) != 0) {
      fail("reading", file);
    }
    if (file % 10 != 0 && unlink(renamed) != 0) fail("removing", file);
  }
}

static void *run(void *argument) {
  long number = (long)argument;
  // Step s of file f is thread (f + s)'s, so each file goes through three threads.
  for (long file = 0; file < files; ++file) {
    long step = ((number - file) % kThreads + kThreads) % kThreads;
    if (step >= kStages) continue;
    pthread_mutex_lock(&lock);
    while (stage[file] != step) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    work(file, (int)step);
    pthread_mutex_lock(&lock);
    ++stage[file];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int count, char **arguments) {
  files = count > 1 ? atol(arguments[1]) : 100;
  stage = calloc((size_t)files, 1);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, (void *)i);
  for (long i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  free(stage);
  return 0;
}
