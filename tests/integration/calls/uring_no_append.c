// RWF_NOAPPEND by io_uring: a write of a file with O_APPEND that goes to its offset.
#include "uring.h"

enum { kNoAppend = 0x20 };  // RWF_NOAPPEND

int main(int argc, char** argv) {
  begin(argc, argv);
  const int fd = open_file("data", O_RDWR | O_CREAT | O_EXCL | O_APPEND);
  write_some(fd, 0, 100);
  struct io_uring ring;
  ring_must(io_uring_queue_init(4, &ring, 0));
  struct io_uring_sqe* request = next_request(&ring);
  io_uring_prep_write(request, fd, text_at(0, 30), 30, 0);
  request->rw_flags = kNoAppend;
  const int result = ring_do(&ring);
  if (result == -EOPNOTSUPP) return 0;  // before Linux 6.9
  CHECK(result == 30);
  CHECK(size_of(fd) == 100);
  request = next_request(&ring);
  io_uring_prep_write(request, fd, text_at(0, 30), 30, 0);
  CHECK(ring_do(&ring) == 30);
  CHECK(size_of(fd) == 130);
  io_uring_queue_exit(&ring);
  return 0;
}
