// sendfile from a file to a file, a pipe and a socket, with and without an offset of its own.
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("source", 50000);
  const int source = open_file("source", O_RDONLY);
  const int copy = open_file("copy", O_RDWR | O_CREAT | O_EXCL);
  CHECK(sendfile(copy, source, NULL, 20000) == 20000);
  CHECK(lseek(source, 0, SEEK_CUR) == 20000 && lseek(copy, 0, SEEK_CUR) == 20000);
  off_t from = 10000;
  CHECK(sendfile(copy, source, &from, 5000) == 5000);
  CHECK(from == 15000 && lseek(source, 0, SEEK_CUR) == 20000);
  CHECK(sendfile(copy, source, NULL, 100000) == 30000);  // up to the end
  CHECK(sendfile(copy, source, NULL, 100000) == 0);
  CHECK(size_of(copy) == 55000);

  // To what is no file: a read of the source.
  int ends[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  from = 1;
  CHECK(sendfile(ends[0], source, &from, 999) == 999);
  char text[1000];
  CHECK(recv(ends[1], text, sizeof text, 0) == 999);
  int pipes[2];
  MUST(pipe(pipes));
  MUST(lseek(source, 49000, SEEK_SET));
  CHECK(sendfile(pipes[1], source, NULL, 4000) == 1000);
  CHECK(read(pipes[0], text, sizeof text) == 1000);

  // A full socket takes only a part.
  MUST(fcntl(ends[0], F_SETFL, O_NONBLOCK));
  MUST(ftruncate(copy, 4 << 20));
  from = 0;
  const ssize_t part = sendfile(ends[0], copy, &from, 4 << 20);
  CHECK(part > 0 && part < 4 << 20);

  MUST_FAIL(sendfile(copy, ends[0], NULL, 10), EINVAL);
  MUST_FAIL(sendfile(source, copy, NULL, 10), EBADF);
  return 0;
}
