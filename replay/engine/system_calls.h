// The calls that the engines are built on, in two versions with the same shape: results are those
// of the kernel's interface, a failure is -errno.
#pragma once

#include <cstddef>
#include <cstdint>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace filereel {

struct LinuxCalls {
  static std::int64_t checked(std::int64_t result) { return result < 0 ? -errno : result; }

  // A directory somewhere below `root`: whatever `path` holds, nothing outside is reached.
  static std::int64_t open_beneath(int root, const char* path) {
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return checked(syscall(SYS_openat2, root, path, &how, sizeof how));
  }
  static std::int64_t open(int parent, const char* name, int flags, mode_t mode) {
    return checked(::openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC, mode));
  }
  static std::int64_t close(int fd) { return checked(::close(fd)); }
  static std::int64_t read(int fd, std::byte* to, std::size_t length, std::uint64_t offset) {
    return checked(::pread(fd, to, length, static_cast<off_t>(offset)));
  }
  static std::int64_t write(int fd, const std::byte* from, std::size_t length,
                            std::uint64_t offset) {
    return checked(::pwrite(fd, from, length, static_cast<off_t>(offset)));
  }
  static std::int64_t truncate(int fd, std::uint64_t size) {
    return checked(::ftruncate(fd, static_cast<off_t>(size)));
  }
  static std::int64_t copy_file_range(int from, int to, std::uint64_t offset, std::size_t length) {
    auto in = static_cast<off_t>(offset);
    auto out = in;
    return checked(::copy_file_range(from, &in, to, &out, length, 0));
  }
  // The destination is written at its own offset, which follows because copies are sequential.
  static std::int64_t sendfile(int from, int to, std::uint64_t offset, std::size_t length) {
    if (::lseek(to, static_cast<off_t>(offset), SEEK_SET) < 0) return -errno;
    auto in = static_cast<off_t>(offset);
    return checked(::sendfile(to, from, &in, length));
  }
  static std::int64_t clone(int from, int to) { return checked(::ioctl(to, FICLONE, from)); }
  static std::int64_t mkdir(int parent, const char* name, mode_t mode) {
    return checked(::mkdirat(parent, name, mode));
  }
  static std::int64_t unlink(int parent, const char* name, int flags) {
    return checked(::unlinkat(parent, name, flags));
  }
  static std::int64_t symlink(const char* text, int parent, const char* name) {
    return checked(::symlinkat(text, parent, name));
  }
  static std::int64_t link(int old_parent, const char* old_name, int parent, const char* name) {
    return checked(::linkat(old_parent, old_name, parent, name, 0));
  }
};

// Everything succeeds at once and nothing happens.
struct NullCalls {
  static std::int64_t open_beneath(int, const char*) { return kFakeDescriptor; }
  static std::int64_t open(int, const char*, int, mode_t) { return kFakeDescriptor; }
  static std::int64_t close(int) { return 0; }
  static std::int64_t read(int, std::byte*, std::size_t length, std::uint64_t) {
    return static_cast<std::int64_t>(length);
  }
  static std::int64_t write(int, const std::byte*, std::size_t length, std::uint64_t) {
    return static_cast<std::int64_t>(length);
  }
  static std::int64_t truncate(int, std::uint64_t) { return 0; }
  static std::int64_t copy_file_range(int, int, std::uint64_t, std::size_t length) {
    return static_cast<std::int64_t>(length);
  }
  static std::int64_t sendfile(int, int, std::uint64_t, std::size_t length) {
    return static_cast<std::int64_t>(length);
  }
  static std::int64_t clone(int, int) { return 0; }
  static std::int64_t mkdir(int, const char*, mode_t) { return 0; }
  static std::int64_t unlink(int, const char*, int) { return 0; }
  static std::int64_t symlink(const char*, int, const char*) { return 0; }
  static std::int64_t link(int, const char*, int, const char*) { return 0; }

 private:
  // Looks open to the engine and is refused by the kernel should it ever get there.
  static constexpr std::int64_t kFakeDescriptor = INT32_MAX;
};

}  // namespace filereel
