// Native asynchronous I/O by its system calls: several requests at a time, and vectors.
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "check.h"

enum { kRequests = 8, kSize = 4096 };

static aio_context_t context;

static void prepare(struct iocb* one, int fd, unsigned short code, void* buffer, size_t length,
                    off_t offset) {
  memset(one, 0, sizeof *one);
  one->aio_fildes = (unsigned)fd;
  one->aio_lio_opcode = code;
  one->aio_buf = (unsigned long)buffer;
  one->aio_nbytes = length;
  one->aio_offset = offset;
  one->aio_data = (unsigned long)one;
}

static void submit(struct iocb* requests, long count) {
  struct iocb* list[kRequests];
  for (long i = 0; i < count; ++i) list[i] = &requests[i];
  CHECK(syscall(SYS_io_submit, context, count, list) == count);
}

static void complete(long count, long result) {
  struct io_event events[kRequests];
  long done = 0;
  while (done < count) {
    done += MUST(syscall(SYS_io_getevents, context, 1L, count - done, events + done, NULL));
  }
  for (long i = 0; i < count; ++i) CHECK(events[i].res == result);
}

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(syscall(SYS_io_setup, 32, &context));
  const int fd = open_file("data", O_RDWR | O_CREAT | O_EXCL | O_DIRECT);
  char* buffers = aligned_alloc(kSize, kRequests * kSize);
  CHECK(buffers != NULL);
  memcpy(buffers, text_at(0, kRequests * kSize), kRequests * kSize);
  struct iocb requests[kRequests];

  // Apart from each other, so that their order does not matter.
  for (int i = 0; i < kRequests; ++i) {
    prepare(&requests[i], fd, IOCB_CMD_PWRITE, buffers + i * kSize, kSize, 2L * i * kSize);
  }
  submit(requests, kRequests);
  complete(kRequests, kSize);
  CHECK(size_of(fd) == (2 * kRequests - 1) * kSize);

  for (int i = 0; i < kRequests; ++i) {
    prepare(&requests[i], fd, IOCB_CMD_PREAD, buffers + i * kSize, kSize, 2L * i * kSize);
  }
  submit(requests, kRequests);
  complete(kRequests, kSize);

  // Vectors and syncs; by another descriptor of the same open file.
  const int twin = (int)MUST(dup(fd));
  struct iovec parts[] = {{buffers, kSize}, {buffers + 4 * kSize, 2 * kSize}};
  prepare(&requests[0], twin, IOCB_CMD_PWRITEV, parts, 2, 64L * kSize);
  submit(requests, 1);
  complete(1, 3 * kSize);
  prepare(&requests[0], twin, IOCB_CMD_FDSYNC, NULL, 0, 0);
  submit(requests, 1);
  complete(1, 0);
  prepare(&requests[0], twin, IOCB_CMD_PREADV, parts, 2, 66L * kSize);
  submit(requests, 1);
  complete(1, kSize);  // the end of the file is reached

  prepare(&requests[0], 999, IOCB_CMD_PREAD, buffers, kSize, 0);
  struct iocb* list[] = {&requests[0]};
  MUST_FAIL(syscall(SYS_io_submit, context, 1L, list), EBADF);
  MUST(close(fd));
  MUST(syscall(SYS_io_destroy, context));
  free(buffers);
  return 0;
}
