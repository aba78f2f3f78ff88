// Each feature that saves time is tried and left out if the kernel refuses it, because it may be
// too old, or locked memory limited. Only the ring itself is required.
//
// IORING_SETUP_SINGLE_ISSUER and DEFER_TASKRUN run completions only when the thread asks for them,
// instead of interrupting it. They bind the ring to the thread that enables it. But rings are
// created by the thread that sets up all engines, before the clock starts; hence
// IORING_SETUP_R_DISABLED, and begin() on the executing thread.
//
// end() unregisters files one by one, because the kernel takes a closed ring apart later, in the
// background. The files would still be in use when the volume is unmounted.
#include "replay/engine/uring_ring.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/uio.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "replay/engine/direct_call.h"

namespace filereel {
namespace {

std::string why_not(int error) {
  const std::string next =
      error == ENOSYS ? "use Linux 5.6 or later"
                      : "enable it (sysctl kernel.io_uring_disabled=0, or the container's policy)";
  const bool is_limit = error == ENOMEM || error == EMFILE;
  return fmt::format("io_uring is unavailable ({}): {}, or use the blocking engine",
                     strerror(error), is_limit ? limit_text(error) : next);
}

// In order of preference: completions only when the single thread of the ring asks for them (Linux
// 6.1), without interrupting it (5.19), the default.
constexpr std::array<unsigned, 3> kSetups = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
        IORING_SETUP_R_DISABLED,
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, 0};

}  // namespace

Ring::Ring(unsigned entries, bool polled) {
  int result = 0;
  for (const unsigned setup : kSetups) {
    const unsigned flags = IORING_SETUP_CLAMP | setup | (polled ? IORING_SETUP_IOPOLL : 0);
    result = io_uring_queue_init(entries, &ring_, flags);
    open_ = result == 0;
    disabled_ = open_ && (setup & IORING_SETUP_R_DISABLED) != 0;
    if (result != -EINVAL) break;
  }
  if (!open_) throw Error(ErrorKind::failed, why_not(-result));
}

void Ring::register_buffers(std::span<std::byte> memory) {
  constexpr std::size_t kMost = 1 << 30;
  if (memory.empty() || memory.size() > kMost) return;
  const iovec all{memory.data(), memory.size()};
  // The limit of locked memory may be too low.
  if (io_uring_register_buffers(&ring_, &all, 1) == 0) held_memory_ = memory;
}

void Ring::create_file_table(std::size_t count) {
  if (count == 0) return;
  if (io_uring_register_files_sparse(&ring_, static_cast<unsigned>(count)) != 0) return;
  held_files_.resize(count);
}

void Ring::begin() noexcept {
  // Not every liburing has a function for this.
  if (disabled_) direct_call(SYS_io_uring_register, ring_.ring_fd, IORING_REGISTER_ENABLE_RINGS);
  disabled_ = false;
  io_uring_register_ring_fd(&ring_);  // saves the lookup
}

void Ring::end() noexcept {
  if (!open_) return;
  // The kernel closes a ring asynchronously: registered files would stay in use.
  for (std::size_t i = 0; i < held_files_.size(); ++i) unregister_file(i);
  io_uring_queue_exit(&ring_);
  open_ = false;
}

void Ring::register_file(std::size_t number, int fd) noexcept {
  if (!can_hold_file(number)) return;
  held_files_[number] =
      io_uring_register_files_update(&ring_, static_cast<unsigned>(number), &fd, 1) == 1;
}

void Ring::unregister_file(std::size_t number) noexcept {
  if (!has_file(number)) return;
  const int none = -1;
  io_uring_register_files_update(&ring_, static_cast<unsigned>(number), &none, 1);
  held_files_[number] = false;
}

void Ring::queue_read(FileRef file, std::span<std::byte> to, std::uint64_t offset,
                      void* tag) noexcept {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  const auto length = static_cast<unsigned>(to.size());
  if (is_held(to)) {
    io_uring_prep_read_fixed(entry, file.file, to.data(), length, offset, 0);
  } else {
    io_uring_prep_read(entry, file.file, to.data(), length, offset);
  }
  complete(entry, file, tag);
}

void Ring::queue_write(FileRef file, std::span<const std::byte> from, std::uint64_t offset,
                       void* tag) noexcept {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  const auto length = static_cast<unsigned>(from.size());
  if (is_held(from)) {
    io_uring_prep_write_fixed(entry, file.file, from.data(), length, offset, 0);
  } else {
    io_uring_prep_write(entry, file.file, from.data(), length, offset);
  }
  complete(entry, file, tag);
}

void Ring::queue_sync(FileRef file, bool data_only, void* tag) noexcept {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  io_uring_prep_fsync(entry, file.file, data_only ? IORING_FSYNC_DATASYNC : 0);
  complete(entry, file, tag);
}

void Ring::complete(io_uring_sqe* entry, FileRef file, void* tag) noexcept {
  if (file.held) entry->flags |= IOSQE_FIXED_FILE;
  io_uring_sqe_set_data(entry, tag);
}

int Ring::wait(std::uint64_t most_ns) noexcept {
  io_uring_cqe* done = nullptr;
  __kernel_timespec time{.tv_sec = 0, .tv_nsec = static_cast<long long>(most_ns)};
  return io_uring_wait_cqe_timeout(&ring_, &done, &time);
}

}  // namespace filereel
