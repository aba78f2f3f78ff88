// io_uring: linked requests, files and buffers that were registered, and several in flight.
#include "uring.h"

enum { kDepth = 8, kSize = 4096 };

static void in_flight(struct io_uring* ring, int fd, char* buffers, int writes) {
  for (int i = 0; i < kDepth; ++i) {
    struct io_uring_sqe* one = next_request(ring);
    const unsigned long long offset = (unsigned long long)i * 2 * kSize;
    if (writes) {
      io_uring_prep_write(one, fd, buffers + i * kSize, kSize, offset);
    } else {
      io_uring_prep_read(one, fd, buffers + i * kSize, kSize, offset);
    }
    one->user_data = (unsigned long long)i;
  }
  int results[kDepth];
  ring_do_all(ring, kDepth, results);
  for (int i = 0; i < kDepth; ++i) CHECK(results[i] == kSize);
}

// A write, a sync and a read of what was written, one after the other; then a chain that breaks.
static void linked(struct io_uring* ring, int fd, char* buffer) {
  struct io_uring_sqe* one = next_request(ring);
  io_uring_prep_write(one, fd, buffer, 1000, 100000);
  one->flags |= IOSQE_IO_LINK;
  one->user_data = 0;
  one = next_request(ring);
  io_uring_prep_fsync(one, fd, IORING_FSYNC_DATASYNC);
  one->flags |= IOSQE_IO_LINK;
  one->user_data = 1;
  one = next_request(ring);
  io_uring_prep_read(one, fd, buffer, 2000, 100000);
  one->user_data = 2;
  int results[3];
  ring_do_all(ring, 3, results);
  CHECK(results[0] == 1000 && results[1] == 0 && results[2] == 1000);

  one = next_request(ring);
  io_uring_prep_read(one, 999, buffer, 10, 0);
  one->flags |= IOSQE_IO_LINK;
  one->user_data = 0;
  one = next_request(ring);
  io_uring_prep_write(one, fd, buffer, 10, 200000);  // never happens
  one->user_data = 1;
  ring_do_all(ring, 2, results);
  CHECK(results[0] == -EBADF && results[1] == -ECANCELED);
}

int main(int argc, char** argv) {
  begin(argc, argv);
  struct io_uring ring;
  ring_must(io_uring_queue_init(32, &ring, 0));
  char* buffers = aligned_alloc(kSize, kDepth * kSize);
  CHECK(buffers != NULL);
  memcpy(buffers, text_at(0, kDepth * kSize), kDepth * kSize);
  const int fd = open_file("plain", O_RDWR | O_CREAT | O_EXCL);
  in_flight(&ring, fd, buffers, 1);
  in_flight(&ring, fd, buffers, 0);
  linked(&ring, fd, buffers);
  CHECK(size_of(fd) == 101000);

  // At the position, with vectors, appended.
  const struct iovec parts[] = {{buffers, 100}, {buffers + 500, 200}};
  io_uring_prep_writev(next_request(&ring), fd, parts, 2, (unsigned long long)-1);
  CHECK(ring_do(&ring) == 300);
  CHECK(lseek(fd, 0, SEEK_CUR) == 300);
  const int log = open_file("log", O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
  for (int i = 0; i < 3; ++i) {
    io_uring_prep_write(next_request(&ring), log, buffers, 50, 0);
    CHECK(ring_do(&ring) == 50);
  }
  CHECK(size_of(log) == 150);

  // Registered: the program closes its own descriptors, and the numbers in requests are others.
  const int fixed[] = {open_file("fixed 0", O_RDWR | O_CREAT | O_EXCL),
                       open_file("fixed 1", O_RDWR | O_CREAT | O_EXCL)};
  ring_must(io_uring_register_files(&ring, fixed, 2));
  MUST(close(fixed[0]));
  MUST(close(fixed[1]));
  const struct iovec memory = {buffers, kDepth * kSize};
  ring_must(io_uring_register_buffers(&ring, &memory, 1));
  for (int i = 0; i < 4; ++i) {
    struct io_uring_sqe* one = next_request(&ring);
    io_uring_prep_write_fixed(one, i % 2, buffers + i * 100, 3000, (unsigned long long)i * 3000, 0);
    one->flags |= IOSQE_FIXED_FILE;
    CHECK(ring_do(&ring) == 3000);
  }
  struct io_uring_sqe* one = next_request(&ring);
  io_uring_prep_read_fixed(one, 1, buffers, kSize, 9000, 0);
  one->flags |= IOSQE_FIXED_FILE;
  CHECK(ring_do(&ring) == 3000);
  one = next_request(&ring);
  io_uring_prep_fsync(one, 0, 0);
  one->flags |= IOSQE_FIXED_FILE;
  CHECK(ring_do(&ring) == 0);
  ring_must(io_uring_unregister_files(&ring));
  io_uring_queue_exit(&ring);
  free(buffers);
  return 0;
}
