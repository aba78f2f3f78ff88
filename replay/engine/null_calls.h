// The calls of the null engine: everything succeeds at once without any effect.
#pragma once

#include "replay/engine/linux_calls.h"

namespace filereel {

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
