// RWF_NOAPPEND: writes of a file with O_APPEND that go to their offset, by the call and by libaio.
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "check.h"

enum { kNoAppend = 0x20 };  // RWF_NOAPPEND

int main(int argc, char** argv) {
  begin(argc, argv);
  make_file("before", 500);
  const int fd = open_file("data", O_RDWR | O_CREAT | O_EXCL | O_APPEND);
  char bytes[100];
  memset(bytes, 'a', sizeof bytes);
  write_some(fd, 0, 100);
  const struct iovec part = {bytes, 30};
  if (pwritev2(fd, &part, 1, 0, kNoAppend) == -1) {
    CHECK(errno == EOPNOTSUPP);  // before Linux 6.9
    return 0;
  }
  CHECK(size_of(fd) == 100);
  CHECK(pwritev2(fd, &part, 1, 90, kNoAppend) == 30);
  CHECK(size_of(fd) == 120);
  // Without an offset: at the position, which is behind the first write.
  CHECK(lseek(fd, 10, SEEK_SET) == 10);
  CHECK(pwritev2(fd, &part, 1, -1, kNoAppend) == 30);
  CHECK(lseek(fd, 0, SEEK_CUR) == 40);
  write_some(fd, 120, 10);
  CHECK(size_of(fd) == 130);

  aio_context_t context = 0;
  MUST(syscall(SYS_io_setup, 4, &context));
  struct iocb request = {.aio_fildes = (unsigned)fd,
                         .aio_lio_opcode = IOCB_CMD_PWRITE,
                         .aio_buf = (unsigned long)bytes,
                         .aio_nbytes = 40,
                         .aio_offset = 100,
                         .aio_rw_flags = kNoAppend};
  struct iocb* list[] = {&request};
  CHECK(syscall(SYS_io_submit, context, 1L, list) == 1);
  struct io_event event;
  CHECK(syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL) == 1 && event.res == 40);
  CHECK(size_of(fd) == 140);

  // The write does not show the size of a file that existed before.
  const int old = open_file("before", O_WRONLY | O_APPEND);
  CHECK(pwritev2(old, &part, 1, 7, kNoAppend) == 30);
  write_some(old, 0, 10);
  CHECK(size_of(old) == 510);
  return 0;
}
