// Everything that makes data durable or prepares it.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  const int fd = open_file("file", O_RDWR | O_CREAT | O_EXCL);
  write_some(fd, 0, 30000);
  MUST(fsync(fd));
  write_some(fd, 30000, 1);
  MUST(fdatasync(fd));
  MUST(sync_file_range(fd, 0, 8192, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER));
  const int folder = open_file(".", O_RDONLY | O_DIRECTORY);
  MUST(fsync(folder));
  MUST(syncfs(fd));
  CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) == 0);
  CHECK(posix_fadvise(fd, 4096, 8192, POSIX_FADV_DONTNEED) == 0);
  MUST(readahead(fd, 0, 16384));
  const int synced = open_file("synced", O_WRONLY | O_CREAT | O_EXCL | O_DSYNC);
  write_some(synced, 0, 5000);
  const int fully = open_file("fully synced", O_WRONLY | O_CREAT | O_EXCL | O_SYNC);
  write_some(fully, 0, 6000);
  int ends[2];
  MUST(pipe(ends));
  MUST_FAIL(fsync(ends[0]), EINVAL);
  MUST_FAIL(fsync(999), EBADF);
  sync();
  return 0;
}
