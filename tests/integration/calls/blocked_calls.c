// A thread waits in a call while another gives its descriptor to another file: the call goes on
// with the first one.
#include <pthread.h>

#include "check.h"

enum { kMoved = 777 };

static int blocked_pipe[2], target;

static void* splice_to_target(void* unused) {
  loff_t at = 0;
  CHECK(splice(blocked_pipe[0], NULL, target, &at, 1000, 0) == kMoved);
  return unused;
}

static void* read_pipe(void* unused) {
  char text[50];
  CHECK(read(blocked_pipe[0], text, sizeof text) == 5);
  return unused;
}

static void wait_until_blocked(void) {
  MUST(usleep(50000));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  pthread_t thread;
  MUST(pipe(blocked_pipe));
  target = open_file("first", O_RDWR | O_CREAT | O_EXCL);
  const int second = open_file("second", O_RDWR | O_CREAT | O_EXCL);
  CHECK(pthread_create(&thread, NULL, splice_to_target, NULL) == 0);
  wait_until_blocked();
  MUST(dup2(second, target));
  write_some(blocked_pipe[1], 0, kMoved);
  CHECK(pthread_join(thread, NULL) == 0);
  write_some(target, 0, 9);  // the second one

  CHECK(pthread_create(&thread, NULL, read_pipe, NULL) == 0);
  wait_until_blocked();
  MUST(dup2(second, blocked_pipe[0]));
  write_some(blocked_pipe[1], 0, 5);
  CHECK(pthread_join(thread, NULL) == 0);
  write_some(blocked_pipe[0], 9, 11);
  CHECK(size_of(second) == 20);
  return 0;
}
