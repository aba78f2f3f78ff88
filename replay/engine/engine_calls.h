// The system calls of the engines: those of Linux, and those of the null engine, which do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "replay/engine/direct_call.h"
#include "traces/operation.h"

namespace filereel {

// The calls of Linux. NullCalls below has the same interface.
//
// Results are those of the kernel's interface: a failure is -errno. Names are single components in
// an open directory. Symbolic links are never followed.

// The target of a call: an open file, or a name in an open directory.
struct CallTarget {
  int fd;            // the open file, or the directory
  const char* name;  // null: the open file itself
};

struct LinuxCalls {
  static constexpr bool kReal = true;

  static std::int64_t checked(std::int64_t result) noexcept { return result < 0 ? -errno : result; }

  // Opens a directory below `root`: nothing outside can be reached, for any `path`. Mount points
  // below `root` are outside (EXDEV).
  static std::int64_t open_beneath(int root, const char* path) noexcept;

  static std::int64_t open(int parent, const char* name, int flags, mode_t mode) noexcept {
    return direct_call(SYS_openat, parent, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
  }
  static std::int64_t close(int fd) noexcept { return direct_call(SYS_close, fd); }
  static std::int64_t read(int fd, std::byte* to, std::size_t length,
                           std::uint64_t offset) noexcept {
    return direct_call(SYS_pread64, fd, to, length, offset);
  }
  static std::int64_t write(int fd, const std::byte* from, std::size_t length,
                            std::uint64_t offset) noexcept {
    return direct_call(SYS_pwrite64, fd, from, length, offset);
  }
  static std::int64_t sync(int fd) noexcept { return direct_call(SYS_fsync, fd); }
  static std::int64_t sync_data(int fd) noexcept { return direct_call(SYS_fdatasync, fd); }
  static std::int64_t sync_range(int fd, std::uint64_t offset, std::uint64_t length,
                                 unsigned flags) noexcept;
  static std::int64_t sync_volume(int fd) noexcept;
  static std::int64_t allocate(int fd, int flags, std::uint64_t offset,
                               std::uint64_t length) noexcept;
  static std::int64_t seek(int fd, std::uint64_t offset, int whence) noexcept;
  static std::int64_t list(int directory, std::span<std::byte> to) noexcept;
  static std::int64_t advise(int fd, std::uint64_t offset, std::uint64_t length,
                             int advice) noexcept;
  static std::int64_t read_ahead(int fd, std::uint64_t offset, std::uint64_t length) noexcept;
  static std::int64_t set_flags(int fd, int flags) noexcept;
  // Tries once, without waiting. A `record` lock belongs to the open file, like flock's.
  static std::int64_t lock(int fd, std::uint32_t flags, std::uint64_t offset,
                           std::uint64_t length) noexcept;

  // Copies transfer at most `length` bytes.
  static std::int64_t copy_file_range(int from, std::uint64_t from_offset, int to,
                                      std::uint64_t to_offset, std::size_t length) noexcept;
  static std::int64_t sendfile(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                               std::size_t length) noexcept;
  static std::int64_t clone(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                            std::uint64_t length) noexcept;

  static std::int64_t mkdir(int parent, const char* name, mode_t mode) noexcept;
  static std::int64_t unlink(int parent, const char* name, int flags) noexcept;
  static std::int64_t symlink(const char* text, int parent, const char* name) noexcept;
  static std::int64_t link(CallTarget old, int parent, const char* name) noexcept;
  static std::int64_t rename(int old_parent, const char* old_name, int parent, const char* name,
                             unsigned flags) noexcept;
  static std::int64_t access(int parent, const char* name, int mode) noexcept;
  static std::int64_t read_link(int parent, const char* name, std::span<std::byte> to) noexcept;
  static std::int64_t enter_directory(int parent, const char* name) noexcept;

  static std::int64_t truncate(CallTarget target, std::uint64_t size) noexcept;
  static std::int64_t stat(CallTarget target) noexcept;
  static std::int64_t stat_volume(CallTarget target) noexcept;
  static std::int64_t change_mode(CallTarget target, mode_t mode) noexcept;
  static std::int64_t change_owner(CallTarget target, uid_t user, gid_t group) noexcept;
  static std::int64_t set_times(CallTarget target, std::uint64_t access,
                                std::uint64_t modification) noexcept;
  static std::int64_t get_xattr(CallTarget target, const char* name,
                                std::span<std::byte> to) noexcept;
  static std::int64_t set_xattr(CallTarget target, const char* name,
                                std::span<const std::byte> value, int flags) noexcept;
  static std::int64_t list_xattr(CallTarget target, std::span<std::byte> to) noexcept;
  static std::int64_t remove_xattr(CallTarget target, const char* name) noexcept;

  // `begin` is the address chosen by the kernel; null after a failure.
  static std::int64_t map(int fd, std::uint64_t offset, std::uint64_t length, int protection,
                          int flags, std::byte*& begin) noexcept;
  static std::int64_t unmap(std::byte* begin, std::uint64_t length) noexcept;
  static std::int64_t sync_map(std::byte* begin, std::uint64_t length, int flags) noexcept;
  // Faults pages in like a load or a store, but returns an error where these raise a signal.
  static std::int64_t fault(std::byte* begin, std::uint64_t length, bool write) noexcept;
};

// The calls of the null engine: everything succeeds at once without any effect.
struct NullCalls {
  static constexpr bool kReal = false;

  static std::int64_t open_beneath(int, const char*) noexcept { return kFakeDescriptor; }
  static std::int64_t open(int, const char*, int, mode_t) noexcept { return kFakeDescriptor; }
  static std::int64_t map(int, std::uint64_t, std::uint64_t, int, int, std::byte*& begin) noexcept {
    begin = nullptr;  // nothing to unmap
    return 0;
  }
  static std::int64_t read(int, std::byte*, std::size_t length, std::uint64_t) noexcept {
    return static_cast<std::int64_t>(length);
  }
  static std::int64_t write(int, const std::byte*, std::size_t length, std::uint64_t) noexcept {
    return static_cast<std::int64_t>(length);
  }
  static std::int64_t copy_file_range(int, std::uint64_t, int, std::uint64_t,
                                      std::size_t length) noexcept {
    return static_cast<std::int64_t>(length);
  }
  static std::int64_t sendfile(int, std::uint64_t, int, std::uint64_t,
                               std::size_t length) noexcept {
    return static_cast<std::int64_t>(length);
  }

  static std::int64_t close(int) noexcept { return 0; }
  static std::int64_t sync(int) noexcept { return 0; }
  static std::int64_t sync_data(int) noexcept { return 0; }
  static std::int64_t sync_range(int, std::uint64_t, std::uint64_t, unsigned) noexcept { return 0; }
  static std::int64_t sync_volume(int) noexcept { return 0; }
  static std::int64_t allocate(int, int, std::uint64_t, std::uint64_t) noexcept { return 0; }
  static std::int64_t seek(int, std::uint64_t, int) noexcept { return 0; }
  static std::int64_t list(int, std::span<std::byte>) noexcept { return 0; }
  static std::int64_t advise(int, std::uint64_t, std::uint64_t, int) noexcept { return 0; }
  static std::int64_t read_ahead(int, std::uint64_t, std::uint64_t) noexcept { return 0; }
  static std::int64_t set_flags(int, int) noexcept { return 0; }
  static std::int64_t lock(int, std::uint32_t, std::uint64_t, std::uint64_t) noexcept { return 0; }
  static std::int64_t clone(int, std::uint64_t, int, std::uint64_t, std::uint64_t) noexcept {
    return 0;
  }
  static std::int64_t mkdir(int, const char*, mode_t) noexcept { return 0; }
  static std::int64_t unlink(int, const char*, int) noexcept { return 0; }
  static std::int64_t symlink(const char*, int, const char*) noexcept { return 0; }
  static std::int64_t link(CallTarget, int, const char*) noexcept { return 0; }
  static std::int64_t rename(int, const char*, int, const char*, unsigned) noexcept { return 0; }
  static std::int64_t access(int, const char*, int) noexcept { return 0; }
  static std::int64_t read_link(int, const char*, std::span<std::byte>) noexcept { return 0; }
  static std::int64_t enter_directory(int, const char*) noexcept { return 0; }
  static std::int64_t truncate(CallTarget, std::uint64_t) noexcept { return 0; }
  static std::int64_t stat(CallTarget) noexcept { return 0; }
  static std::int64_t stat_volume(CallTarget) noexcept { return 0; }
  static std::int64_t change_mode(CallTarget, mode_t) noexcept { return 0; }
  static std::int64_t change_owner(CallTarget, uid_t, gid_t) noexcept { return 0; }
  static std::int64_t set_times(CallTarget, std::uint64_t, std::uint64_t) noexcept { return 0; }
  static std::int64_t get_xattr(CallTarget, const char*, std::span<std::byte>) noexcept {
    return 0;
  }
  static std::int64_t set_xattr(CallTarget, const char*, std::span<const std::byte>, int) noexcept {
    return 0;
  }
  static std::int64_t list_xattr(CallTarget, std::span<std::byte>) noexcept { return 0; }
  static std::int64_t remove_xattr(CallTarget, const char*) noexcept { return 0; }
  static std::int64_t unmap(std::byte*, std::uint64_t) noexcept { return 0; }
  static std::int64_t sync_map(std::byte*, std::uint64_t, int) noexcept { return 0; }
  static std::int64_t fault(std::byte*, std::uint64_t, bool) noexcept { return 0; }

 private:
  // Valid for the engine, but refused by the kernel if it is ever used there.
  static constexpr std::int64_t kFakeDescriptor = INT32_MAX;
};

}  // namespace filereel
