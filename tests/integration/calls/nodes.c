// Names of sockets and pipes, which a replay does not create: everything else must be as if it did.
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "check.h"

static int bind_to(const char* path, size_t length) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, path, length);
  const int fd = (int)MUST(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int result = bind(fd, (struct sockaddr*)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  const int error = errno;
  MUST(close(fd));
  errno = error;
  return result;
}

static void use_sockets(void) {
  struct stat info;
  MUST(mkdir("d", 0755));
  MUST(bind_to("d/socket", 9));
  MUST(bind_to("d/unended", 9));
  MUST(bind_to("\0abstract", 9));
  MUST(bind_to("", 0));
  MUST_FAIL(bind_to("d/socket", 9), EADDRINUSE);
  MUST_FAIL(bind_to("missing/socket", 15), ENOENT);
  MUST_FAIL(rmdir("d"), ENOTEMPTY);
  MUST(stat("d/socket", &info));
  CHECK(S_ISSOCK(info.st_mode));
  MUST_FAIL(open("d/socket", O_RDONLY), ENXIO);
  MUST(unlink("d/unended"));
  MUST(rename("d", "e"));
  MUST_FAIL(rmdir("e"), ENOTEMPTY);
  MUST(unlink("e/socket"));
  MUST(rmdir("e"));
}

static void use_pipes(void) {
  MUST(mkdir("p", 0755));
  MUST(mkdir("full", 0755));
  MUST(mkfifo("p/a", 0644));
  MUST(link("p/a", "p/b"));
  MUST(unlink("p/a"));
  MUST_FAIL(rmdir("p"), ENOTEMPTY);
  MUST_FAIL(rename("full", "p"), ENOTEMPTY);
  make_file("p/file", 10);
  MUST_FAIL(link("p/file", "p/b"), EEXIST);
  MUST_FAIL(mkdir("p/b", 0755), EEXIST);
  MUST_FAIL(mknod("p/b", S_IFREG | 0644, 0), EEXIST);
  MUST_FAIL(open("p/b", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
  MUST_FAIL(open("p/b/c", O_RDONLY), ENOTDIR);
  MUST_FAIL(rename("p/b", "full"), EISDIR);
  MUST_FAIL(renameat2(AT_FDCWD, "p/file", AT_FDCWD, "p/b", RENAME_NOREPLACE), EEXIST);
  MUST(rename("p/b", "p/file"));  // the file is gone
  MUST_FAIL(rmdir("p"), ENOTEMPTY);
  make_file("p/other", 20);
  MUST(renameat2(AT_FDCWD, "p/file", AT_FDCWD, "p/other", RENAME_EXCHANGE));
  MUST(close(open_file("p/file", O_RDONLY)));
  MUST(rename("p/file", "p/other"));  // the pipe is gone
  MUST(mkfifo("p/last", 0644));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  use_sockets();
  use_pipes();
  return 0;
}
