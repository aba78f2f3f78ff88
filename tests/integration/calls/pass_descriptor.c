// Open files are passed through a socket: the receiver shares the offset, and outlives the
// sender's.
#include <sys/socket.h>

#include "check.h"

union space {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(2 * sizeof(int))];
};

static void send_two(int socket, int one, int two) {
  union space space = {0};
  char byte = 'x';
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = space.bytes,
                           .msg_controllen = sizeof space.bytes};
  struct cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int fds[] = {one, two};
  memcpy(CMSG_DATA(control), fds, sizeof fds);
  CHECK(sendmsg(socket, &message, 0) == 1);
}

static void receive_two(int socket, int* fds) {
  union space space;
  char byte;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = space.bytes,
                           .msg_controllen = sizeof space.bytes};
  CHECK(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1);
  struct cmsghdr* control = CMSG_FIRSTHDR(&message);
  CHECK(control != NULL && control->cmsg_type == SCM_RIGHTS);
  memcpy(fds, CMSG_DATA(control), 2 * sizeof(int));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  int ends[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  const pid_t child = (pid_t)MUST(fork());
  if (child == 0) {
    int fds[2];
    receive_two(ends[1], fds);
    CHECK(lseek(fds[0], 0, SEEK_CUR) == 400);
    write_some(fds[0], 400, 300);
    char text[100];
    CHECK(read(fds[1], text, sizeof text) == 100);
    CHECK(send(ends[1], "done", 4, 0) == 4);
    CHECK(recv(ends[1], text, 4, 0) == 4);  // the sender has closed its own
    write_some(fds[0], 700, 55);
    CHECK(read(fds[1], text, sizeof text) == 50);
    _exit(0);
  }
  make_file("read", 250);
  const int written = open_file("written", O_RDWR | O_CREAT | O_EXCL);
  const int reader = open_file("read", O_RDONLY);
  write_some(written, 0, 400);
  char text[100];
  CHECK(read(reader, text, sizeof text) == 100);
  send_two(ends[0], written, reader);
  CHECK(recv(ends[0], text, 4, 0) == 4);
  CHECK(lseek(written, 0, SEEK_CUR) == 700 && lseek(reader, 0, SEEK_CUR) == 200);
  MUST(close(written));
  MUST(close(reader));
  MUST(rename("written", "written and renamed"));
  CHECK(send(ends[0], "done", 4, 0) == 4);
  expect_end(child);

  // One is only in a message, without a name or a descriptor, when it is received.
  const int unnamed = open_file("unnamed", O_RDWR | O_CREAT | O_EXCL);
  write_some(unnamed, 0, 10);
  const int other = open_file("read", O_RDONLY);
  send_two(ends[0], unnamed, other);
  MUST(unlink("unnamed"));
  MUST(close(unnamed));
  MUST(close(other));
  int fds[2];
  receive_two(ends[1], fds);
  write_some(fds[0], 10, 20);
  CHECK(size_of(fds[0]) == 30);
  return 0;
}
