// io_uring: opening, closing, naming and sizing files, and files that never have a descriptor.
#include "uring.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  struct io_uring ring;
  ring_must(io_uring_queue_init(16, &ring, 0));
  char text[500];
  memset(text, 't', sizeof text);

  io_uring_prep_mkdirat(next_request(&ring), AT_FDCWD, "folder", 0755);
  CHECK(ring_do(&ring) == 0);
  io_uring_prep_openat(next_request(&ring), AT_FDCWD, "folder/file", O_RDWR | O_CREAT | O_EXCL,
                       0644);
  const int fd = ring_do(&ring);
  CHECK(fd > 2);
  io_uring_prep_write(next_request(&ring), fd, text, sizeof text, 0);
  CHECK(ring_do(&ring) == sizeof text);
  io_uring_prep_fallocate(next_request(&ring), fd, 0, 0, 1000);
  CHECK(ring_do(&ring) == 0);
  struct statx info;
  io_uring_prep_statx(next_request(&ring), AT_FDCWD, "folder/file", 0, STATX_SIZE, &info);
  CHECK(ring_do(&ring) == 0 && info.stx_size == 1000);
  io_uring_prep_renameat(next_request(&ring), AT_FDCWD, "folder/file", AT_FDCWD, "folder/moved", 0);
  CHECK(ring_do(&ring) == 0);
  io_uring_prep_linkat(next_request(&ring), AT_FDCWD, "folder/moved", AT_FDCWD, "linked", 0);
  CHECK(ring_do(&ring) == 0);
  io_uring_prep_symlinkat(next_request(&ring), "linked", AT_FDCWD, "pointer");
  CHECK(ring_do(&ring) == 0);
  write_some(fd, 0, 10);  // the descriptor is one like any other
  io_uring_prep_close(next_request(&ring), fd);
  CHECK(ring_do(&ring) == 0);
  MUST_FAIL(write(fd, text, 1), EBADF);
  io_uring_prep_openat(next_request(&ring), AT_FDCWD, "missing", O_RDONLY, 0);
  CHECK(ring_do(&ring) == -ENOENT);

  // Opened into the table of registered files: made, written and closed in one chain.
  ring_must(io_uring_register_files_sparse(&ring, 4));
  struct io_uring_sqe* one = next_request(&ring);
  io_uring_prep_openat_direct(one, AT_FDCWD, "direct", O_RDWR | O_CREAT | O_EXCL, 0644, 2);
  one->flags |= IOSQE_IO_LINK;
  one->user_data = 0;
  one = next_request(&ring);
  io_uring_prep_write(one, 2, text, 321, 0);
  one->flags |= IOSQE_IO_LINK | IOSQE_FIXED_FILE;
  one->user_data = 1;
  one = next_request(&ring);
  io_uring_prep_close_direct(one, 2);
  one->user_data = 2;
  int results[3];
  ring_do_all(&ring, 3, results);
  CHECK(results[0] == 0 && results[1] == 321 && results[2] == 0);

  io_uring_prep_unlinkat(next_request(&ring), AT_FDCWD, "folder/moved", 0);
  CHECK(ring_do(&ring) == 0);
  io_uring_prep_unlinkat(next_request(&ring), AT_FDCWD, "folder", AT_REMOVEDIR);
  CHECK(ring_do(&ring) == 0);
  io_uring_queue_exit(&ring);
  return 0;
}
