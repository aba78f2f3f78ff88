// io_uring with a thread of the kernel's that takes requests: the program makes no calls for them.
#include "uring.h"

enum { kRounds = 40, kDepth = 4, kSize = 2048 };

int main(int argc, char** argv) {
  begin(argc, argv);
  struct io_uring ring;
  struct io_uring_params parameters = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 200};
  ring_must(io_uring_queue_init_params(16, &ring, &parameters));
  static char buffer[kDepth][kSize];
  memset(buffer, 'q', sizeof buffer);
  const int fd = open_file("polled", O_RDWR | O_CREAT | O_EXCL);
  const int fixed = open_file("polled and fixed", O_RDWR | O_CREAT | O_EXCL);
  ring_must(io_uring_register_files(&ring, &fixed, 1));
  int results[2 * kDepth];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 2 * kDepth; ++i) {
      struct io_uring_sqe* one = next_request(&ring);
      const unsigned long long offset = (unsigned long long)(round * kDepth + i % kDepth) * kSize;
      if (i < kDepth) {
        io_uring_prep_write(one, fd, buffer[i], kSize, offset);
      } else {
        io_uring_prep_write(one, 0, buffer[i - kDepth], kSize, offset);
        one->flags |= IOSQE_FIXED_FILE;
      }
      one->user_data = (unsigned long long)i;
    }
    ring_do_all(&ring, 2 * kDepth, results);
    for (int i = 0; i < 2 * kDepth; ++i) CHECK(results[i] == kSize);
  }
  io_uring_prep_fsync(next_request(&ring), fd, 0);
  CHECK(ring_do(&ring) == 0);
  io_uring_prep_read(next_request(&ring), fd, buffer[0], kSize,
                     (kRounds * kDepth - 1) * kSize + 48);
  CHECK(ring_do(&ring) == kSize - 48);
  CHECK(size_of(fd) == kRounds * kDepth * kSize && size_of(fixed) == size_of(fd));
  io_uring_queue_exit(&ring);
  return 0;
}
