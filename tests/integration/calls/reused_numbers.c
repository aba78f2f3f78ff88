// Two threads reuse the numbers of sockets and pipes for files a thousand times: what was sent to a
// socket must not become a write to the file that has its number next.
#include <fcntl.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "check.h"

enum { kRounds = 500, kServed = 9000 };

static void fill(const char* name, size_t size) {
  const int file = (int)MUST(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  static const char bytes[kServed];
  MUST(write(file, bytes, size));
  MUST(close(file));
}

static void serve(int served, const char* victim, int round) {
  int ends[2];
  off_t at = 0;
  if (round % 2 == 0) {
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    MUST(sendfile(ends[1], served, &at, kServed));
  } else {
    MUST(pipe(ends));
    MUST(splice(served, &at, ends[1], 0, kServed, 0));
  }
  // The numbers, assigned at once to files.
  const int number = ends[1];
  const int file = (int)MUST(open(victim, round % 3 == 0 ? O_RDONLY : O_RDWR));
  MUST(dup2(file, number));
  char bytes[100];
  MUST(pread(number, bytes, sizeof bytes, round));
  if (round % 3 != 0) MUST(pwrite(number, bytes, 10, 4000));
  MUST(close(number));
  MUST(close(file));
  MUST(close(ends[0]));
}

static void* worker(void* victim) {
  const int served = (int)MUST(open("served", O_RDONLY));
  for (int round = 0; round < kRounds; ++round) serve(served, victim, round);
  MUST(close(served));
  return 0;
}

int main(int argc, char** argv) {
  begin(argc, argv);
  fill("served", kServed);
  fill("victim", 8000);
  fill("victim 2", 7000);
  pthread_t second;
  MUST(pthread_create(&second, 0, worker, "victim 2"));
  worker("victim");
  MUST(pthread_join(second, 0));
  return 0;
}
