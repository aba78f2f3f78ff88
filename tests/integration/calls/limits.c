// Writes that a limit of the process cuts short or refuses: a replay has no such limit.
#include <signal.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "check.h"

static void write_to_limit(const char* name, int flags) {
  const int fd = open_file(name, O_RDWR | O_CREAT | flags);
  write_some(fd, 0, 900);
  CHECK(write(fd, text_at(900, 200), 200) == 100);
  MUST_FAIL(write(fd, text_at(1000, 10), 10), EFBIG);
  MUST_FAIL(pwrite(fd, text_at(0, 10), 10, 5000), EFBIG);
  MUST_FAIL(ftruncate(fd, 2000), EFBIG);
  MUST_FAIL(fallocate(fd, 0, 0, 2000), EFBIG);
  MUST_FAIL(truncate(name, 2000), EFBIG);
  CHECK(size_of(fd) == 1000);
  char all[2000];
  CHECK(pread(fd, all, sizeof all, 0) == 1000);
  MUST(close(fd));
}

static void copy_to_limit(void) {
  const int from = open_file("big", O_RDONLY), to = open_file("copy", O_RDWR | O_CREAT);
  CHECK(sendfile(to, from, NULL, 800) == 800);
  CHECK(sendfile(to, from, NULL, 800) == 200);
  CHECK(sendfile(to, from, NULL, 800) == -1);
  struct iovec parts[2] = {{"abc", 3}, {"defg", 4}};
  MUST(lseek(to, 995, SEEK_SET));
  CHECK(writev(to, parts, 2) == 5);
  CHECK(size_of(to) == 1000);
  MUST(close(from));
  MUST(close(to));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("big", 5000);
  struct rlimit limit;
  MUST(getrlimit(RLIMIT_FSIZE, &limit));
  limit.rlim_cur = 1000;
  MUST(setrlimit(RLIMIT_FSIZE, &limit));
  signal(SIGXFSZ, SIG_IGN);
  write_to_limit("plain", 0);
  write_to_limit("appended", O_APPEND);
  copy_to_limit();
  // A child has the limit, too, and dies of the signal.
  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    signal(SIGXFSZ, SIG_DFL);
    const int fd = open_file("killed", O_WRONLY | O_CREAT);
    write_some(fd, 0, 1000);
    (void)!write(fd, "x", 1);
    _exit(1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
  return 0;
}
