// Executes operations, confined to the volumes' roots (docs/replay.md).
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <unistd.h>

#include "replay/engine/content_buffer.h"
#include "replay/engine/engine_calls.h"
#include "replay/engine/engine_context.h"
#include "replay/engine/parent_cache.h"
#include "replay/measure/clock.h"

namespace filereel {

// Size of a thread's buffer for reads and writes; larger transfers are split.
std::uint64_t buffer_size(const EngineContext& context);

// Whether the operation is refused because it could affect more than files and their content:
// device nodes, owners (unless requested), attributes of the system.
inline bool is_refused(const Operation& op, const EngineContext& context) noexcept {
  switch (op.kind) {
    case OperationKind::make_node:
      return true;
    case OperationKind::change_owner:
      return !context.change_owners;
    case OperationKind::set_xattr:
    case OperationKind::remove_xattr:
      return !is_user_attribute(context.texts->text(op.text));
    default:
      return false;
  }
}

// The number of bytes a read or write requests: for a write that was short, the bytes written.
inline std::uint64_t bytes_of(const Operation& op) noexcept {
  if (op.kind != OperationKind::write || op.expected < 0) return op.length;
  return std::min(op.length, static_cast<std::uint64_t>(op.expected));
}

// `Calls` is LinuxCalls or NullCalls. Used by one thread. After construction nothing throws or
// allocates.
template <class Calls>
class OperationExecutor {
 public:
  explicit OperationExecutor(const EngineContext& context)
      : context_(context),
        changes_(context.directories ? *context.directories : own_changes_),
        parents_(*context.paths, context.roots, changes_, context.kept_directories,
                 context.opening_ns),
        content_(context.files, context.content_seed, context.holes),
        buffer_(buffer_size(context)),
        scratch_(needs_scratch(context.kinds) ? kLargestAttribute : 1),
        page_bytes_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))) {}
  OperationExecutor(const OperationExecutor&) = delete;
  OperationExecutor& operator=(const OperationExecutor&) = delete;

  // Opens files without O_NONBLOCK unless the trace has it. The open itself always uses it, so that
  // it cannot hang. For blocking reads and writes of files it has no effect, for io_uring it does.
  void open_blocking() { clear_nonblock_ = true; }

  Buffer& buffer() { return buffer_; }
  ContentSource& content() { return content_; }
  int fd(FileSlot slot) const noexcept {
    if (slot >= context_.open_files.size()) return -1;
    return context_.open_files[slot].fd.load(std::memory_order_acquire);
  }

  // Prepares the operation; call before the clock is read.
  void prepare(const Operation& op) noexcept {
    if (op.kind == OperationKind::write && op.data == DataSource::generated) {
      if (std::exchange(prepared_, false)) return;
      content_.fill(op.entry, op.offset, buffer_.first(bytes_of(op)));
    }
  }
  // The same ahead of time: `op` is the next operation to be prepared.
  void prepare_ahead(const Operation& op) noexcept {
    prepare(op);
    prepared_ = op.kind == OperationKind::write && op.data == DataSource::generated;
  }

  // Returns the result of the system call; 0 if it has none.
  std::int64_t call(const Operation& op) noexcept {
    const bool moves = op.kind == OperationKind::read || op.kind == OperationKind::write;
    return moves ? transfer(op) : call_other(op);
  }

  // Return and reset parts of the last call that the program's own call would not have had: those
  // of lookups of directories (ParentCache), and others.
  std::uint64_t take_lookup_ns() noexcept { return parents_.take_own_ns(); }
  std::uint64_t take_own_ns() noexcept { return std::exchange(own_ns_, 0); }

  // For the last read: the first position with a byte other than the one written, or `got`.
  std::uint64_t first_difference(const Operation& op, std::uint64_t got) noexcept {
    if (op.length > buffer_.size()) return std::min(difference_, got);
    return content_.first_difference(op.entry, op.offset, buffer_.first(got));
  }

 private:
  static constexpr std::size_t kLargestAttribute = XATTR_SIZE_MAX;
  static constexpr std::uint64_t kLockPatienceNs = 1'000'000'000;

  static bool needs_scratch(const std::bitset<kOperationKinds>& kinds) {
    using enum OperationKind;
    return std::ranges::any_of(
        std::array{list, read_link, get_xattr, set_xattr, list_xattr},
        [&kinds](OperationKind kind) { return kinds[static_cast<std::size_t>(kind)]; });
  }
  static std::int64_t only_error(std::int64_t result) { return std::min<std::int64_t>(result, 0); }
  // Removes the set-user-ID, set-group-ID and sticky bits.
  static mode_t mode_of(const Operation& op) { return op.mode & 0777; }

  // Returns call(CallTarget) for the open file, or for the name if there is none.
  template <class Call>
  std::int64_t at_target(FileSlot file, PathId path, Call call) noexcept {
    if (file != kNoFile) return call(CallTarget{fd(file), nullptr});
    return parents_.with(
        path, [&](int parent, const char* name) { return call(CallTarget{parent, name}); });
  }
  template <class Call>
  std::int64_t at_target(const Operation& op, Call call) noexcept {
    return at_target(op.file, op.path, call);
  }

  // Call after a name was removed that may be a directory's. `below`: it may not have been empty,
  // so that directories below it have moved.
  void name_changed(PathId path, bool below) noexcept {
    if (context_.paths->node(path).first_child == PathTable::kNone) return;
    changes_.add({path, below});
  }

  std::int64_t transfer(const Operation& op) noexcept {
    const std::uint64_t length = bytes_of(op);
    if (length > buffer_.size()) [[unlikely]] {
      return transfer_in_pieces(op);
    }
    if (op.kind == OperationKind::read) {
      return Calls::read(fd(op.file), buffer_.data(), length, op.offset);
    }
    return Calls::write(fd(op.file), buffer_.data(), length, op.offset);
  }

  std::int64_t call_other(const Operation& op) noexcept;
  std::int64_t open(const Operation& op) noexcept;
  std::int64_t try_open(const Operation& op) noexcept;
  std::int64_t set_status_flags(int fd, const Operation& op) noexcept;
  std::int64_t close(const Operation& op) noexcept;
  std::int64_t transfer_in_pieces(const Operation& op) noexcept;
  std::int64_t stat_volume(const Operation& op) noexcept;
  std::int64_t copy_range(const Operation& op) noexcept;
  std::int64_t link(const Operation& op) noexcept;
  std::int64_t remove_directory(const Operation& op) noexcept;
  std::int64_t rename(const Operation& op) noexcept;
  std::int64_t list(const Operation& op) noexcept;
  std::int64_t lock(const Operation& op) noexcept;
  std::int64_t attribute(const Operation& op) noexcept;
  std::int64_t execute(const Operation& op) noexcept;
  std::int64_t map(const Operation& op) noexcept;
  std::int64_t unmap(FileSlot number) noexcept;
  template <class Call>
  std::int64_t in_mapping(const Operation& op, Call call) noexcept;

  const EngineContext& context_;
  DirectoryChanges own_changes_;  // if the context has none
  DirectoryChanges& changes_;
  ParentCache<Calls> parents_;
  ContentSource content_;
  Buffer buffer_;
  Buffer scratch_;  // lists, attributes, link targets
  std::uint64_t page_bytes_;
  bool clear_nonblock_ = false;
  std::uint64_t own_ns_ = 0;
  bool prepared_ = false;  // the buffer holds the next write's content
  std::uint64_t difference_ = 0;
};

extern template class OperationExecutor<LinuxCalls>;
extern template class OperationExecutor<NullCalls>;

}  // namespace filereel
