// burst FILE COUNT: two threads write COUNT times a byte each, as fast as they can.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int file;
static long count;

static void* burst(void* place) {
  const off_t at = *(const off_t*)place;
  for (long i = 0; i < count; ++i) {
    if (pwrite(file, "x", 1, at) != 1) return place;
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  count = atol(argv[2]);
  pthread_t threads[2];
  off_t places[2] = {0, 4096};
  for (int i = 0; i < 2; ++i) {
    if (file < 0 || pthread_create(&threads[i], NULL, burst, &places[i]) != 0) return 1;
  }
  int wrong = 0;
  for (int i = 0; i < 2; ++i) {
    void* failed = NULL;
    pthread_join(threads[i], &failed);
    wrong |= failed != NULL;
  }
  return wrong;
}
