// Each operation becomes the system call of the recorded program, with three differences.
//
// Confinement. A trace is input from outside and may name anything. Every path goes through
// ParentCache, which opens its directory beneath the root of the volume; the call then gets the
// descriptor and one component. No call resolves a path of the trace; the text of a new symbolic
// link is stored and never followed. Flags of opens are limited to kOpenFlags. Operations that
// could affect more than files are refused before they come here (is_refused). Whatever could hang
// is changed: opens have O_NONBLOCK, because the name may be a FIFO, and locks are tried for a
// second at most, never waited for in the kernel, because threads of a trace could wait for each
// other.
//
// Time. The caller reads the clock around call(). Work that the program's call did not have is
// either done before (prepare: content of writes) or measured and returned by take_own_ns() and
// take_lookup_ns(), so that no latency contains it. A new step within call() needs one of the two.
//
// State between threads. An executor belongs to the thread of its lane, with its buffers and its
// cached directories. OpenFile and Mapping of the context are shared by all lanes of a recorded
// trace. The schedule orders their uses; for orders without such guarantees their members are
// atomic, and a use then meets the old file, the new one or none. A descriptor is closed only by
// the thread that has exchanged it out. A mapping is taken out likewise: `begin` is kTaken while a
// thread maps or unmaps, so that no two do, and is stored last, after the members that it makes
// valid.
#include "replay/engine/operation_executor.h"

#include <linux/fs.h>
#include <sys/mman.h>
#include <time.h>

#include "traces/open_flags.h"

namespace filereel {
namespace {

// The permitted flags of an open; that of temporary files includes that of directories. O_APPEND is
// excluded because offsets are explicit.
constexpr std::uint32_t kOpenFlags = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC |
                                     open_flags::kTemporary | open_flags::kDirect | O_SYNC |
                                     O_DSYNC | O_NOATIME | O_PATH | O_NONBLOCK;
constexpr std::uint32_t kTemporary = open_flags::kTemporary & ~open_flags::kDirectory;
constexpr std::uint32_t kStatusFlags = O_NONBLOCK | open_flags::kDirect | O_NOATIME;
constexpr std::uint64_t kSmallestPage = 4096;         // of all processors
constexpr std::uint32_t kWhiteout = RENAME_WHITEOUT;  // creates a device node

// Value of a mapping's `begin` while a thread works on its entry.
std::byte* const kTaken = reinterpret_cast<std::byte*>(1);

// Whether a path lookup failed.
bool is_missing(std::int64_t result) {
  return result == -ENOENT || result == -ENOTDIR || result == -ELOOP || result == -ENAMETOOLONG;
}

}  // namespace

std::uint64_t buffer_size(const EngineContext& context) {
  if (context.files) return context.largest_io;  // a synthesised workload
  // A trace may claim any size: this is the limit for all threads together.
  constexpr std::uint64_t kMost = 64 << 20, kLeast = 64 << 10;
  const std::uint64_t lanes = context.board ? std::max<std::uint64_t>(context.board->size(), 1) : 1;
  return std::min(context.largest_io, std::clamp(context.buffer_memory / lanes, kLeast, kMost));
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::call_other(const Operation& op) noexcept {
  using enum OperationKind;
  switch (op.kind) {
    case open:
      return this->open(op);
    case close:
      return this->close(op);
    case truncate:
      return at_target(op, [&](CallTarget at) { return Calls::truncate(at, op.offset); });
    case copy_range:
      return this->copy_range(op);
    case make_directory:
      return parents_.with(op.path, [&](int parent, const char* name) {
        return Calls::mkdir(parent, name, mode_of(op));
      });
    case remove_directory:
      return this->remove_directory(op);
    case unlink:
      return parents_.with(
          op.path, [&](int parent, const char* name) { return Calls::unlink(parent, name, 0); });
    case symlink:
      return parents_.with(op.path, [&](int parent, const char* name) {
        return Calls::symlink(context_.texts->text(op.text).c_str(), parent, name);
      });
    case link:
      return this->link(op);
    case rename:
      return this->rename(op);
    case allocate:
      return Calls::allocate(fd(op.file), static_cast<int>(op.flags), op.offset, op.length);
    case sync:
      return Calls::sync(fd(op.file));
    case sync_data:
      return Calls::sync_data(fd(op.file));
    case sync_range:
      return Calls::sync_range(fd(op.file), op.offset, op.length, op.flags);
    case sync_volume:
      return Calls::sync_volume(op.file == kNoFile ? context_.roots[0] : fd(op.file));
    case stat:
      return at_target(op, [](CallTarget at) { return Calls::stat(at); });
    case stat_volume:
      return this->stat_volume(op);
    case access:
      return parents_.with(op.path, [&](int parent, const char* name) {
        return Calls::access(parent, name, static_cast<int>(op.mode & 07));
      });
    case read_link:
      return only_error(parents_.with(op.path, [&](int parent, const char* name) {
        return Calls::read_link(parent, name, scratch_.first(PATH_MAX));
      }));
    case list:
      return this->list(op);
    case seek:
      if (op.flags != SEEK_DATA && op.flags != SEEK_HOLE) return -EINVAL;
      return only_error(Calls::seek(fd(op.file), op.offset, static_cast<int>(op.flags)));
    case change_mode:
      return at_target(op, [&](CallTarget at) { return Calls::change_mode(at, mode_of(op)); });
    case change_owner:
      return at_target(op, [&](CallTarget at) {
        return Calls::change_owner(at, static_cast<uid_t>(op.offset),
                                   static_cast<gid_t>(op.second));
      });
    case set_times:
      return at_target(op,
                       [&](CallTarget at) { return Calls::set_times(at, op.offset, op.second); });
    case get_xattr:
    case set_xattr:
    case list_xattr:
    case remove_xattr:
      return attribute(op);
    case advise:
      return Calls::advise(fd(op.file), op.offset, op.length, static_cast<int>(op.flags));
    case read_ahead:
      return Calls::read_ahead(fd(op.file), op.offset, op.length);
    case lock:
      return this->lock(op);
    case map:
      return this->map(op);
    case unmap:
      return this->unmap(op.source);
    case sync_map:
      return in_mapping(op, [&](std::byte* begin, std::uint64_t length) {
        return Calls::sync_map(begin, length, static_cast<int>(op.flags));
      });
    case fault:
      return in_mapping(op, [&](std::byte* begin, std::uint64_t length) {
        return Calls::fault(begin, length, (op.flags & 1) != 0);
      });
    case change_directory:
      return parents_.with(op.path, [](int parent, const char* name) {
        return Calls::enter_directory(parent, name);
      });
    case set_flags:
      return set_status_flags(fd(op.file), op);
    case execute:
      return this->execute(op);
    case read:
    case write:
    case make_node:
    case barrier:
    case fork:
    case join:
    case exit:
    case reap:  // there are no requests in flight here
    case await:
    case pace:
    case wait:
    case wake:
      break;
  }
  return op.expected;
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::set_status_flags(int fd, const Operation& op) noexcept {
  return Calls::set_flags(fd, static_cast<int>(open_flags::to_kernel(op.flags & kStatusFlags)));
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::try_open(const Operation& op) noexcept {
  const auto flags =
      static_cast<int>(open_flags::to_kernel(op.flags & kOpenFlags) | O_NONBLOCK | O_NOCTTY);
  if ((op.flags & kTemporary) != 0) {
    const std::int64_t directory = parents_.directory(op.path);
    if (directory < 0) return directory;
    return Calls::open(static_cast<int>(directory), ".", flags, mode_of(op));
  }
  return parents_.with(op.path, [&](int parent, const char* name) {
    return Calls::open(parent, name, flags, mode_of(op));
  });
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::open(const Operation& op) noexcept {
  std::int64_t fd = try_open(op);
  if (fd == -EMFILE) {  // there may be too many directories
    parents_.make_room();
    fd = try_open(op);
  }
  if (op.file >=
      context_.open_files.size()) {  // the open failed in the trace, so nothing will close it
    if (fd < 0) return fd;
    Calls::close(static_cast<int>(fd));
    return 0;
  }
  OpenFile& file = context_.open_files[op.file];
  const int before = file.fd.exchange(static_cast<int>(fd < 0 ? -1 : fd));
  file.path.store(op.path, std::memory_order_relaxed);
  file.listed.store(false, std::memory_order_relaxed);
  if (before >= 0) Calls::close(before);  // only for traces that did not close it
  if (fd < 0) return fd;
  if (clear_nonblock_ && (op.flags & O_NONBLOCK) == 0) {
    const std::uint64_t begin = now_ns();
    set_status_flags(static_cast<int>(fd), op);
    own_ns_ += now_ns() - begin;
  }
  return 0;  // the number has no meaning
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::close(const Operation& op) noexcept {
  if (op.file >= context_.open_files.size()) return -EBADF;
  return Calls::close(context_.open_files[op.file].fd.exchange(-1));
}

// Behaves like a single call: a short piece ends it, and an error is returned only if nothing was
// transferred.
template <class Calls>
std::int64_t OperationExecutor<Calls>::transfer_in_pieces(const Operation& op) noexcept {
  const std::uint64_t length = std::min(bytes_of(op), kMaxTransfer);
  if (op.offset > static_cast<std::uint64_t>(INT64_MAX) - length) return -EINVAL;
  const bool reads = op.kind == OperationKind::read;
  const bool check = reads && context_.verify == Verify::content;
  std::uint64_t done = 0;
  difference_ = UINT64_MAX;
  while (done < length) {
    const std::span<std::byte> piece = buffer_.first(length - done);
    if (!reads && done > 0 && op.data == DataSource::generated) {
      const std::uint64_t begin = now_ns();
      content_.fill(op.entry, op.offset + done, piece);
      own_ns_ += now_ns() - begin;
    }
    const std::int64_t moved =
        reads ? Calls::read(fd(op.file), piece.data(), piece.size(), op.offset + done)
              : Calls::write(fd(op.file), piece.data(), piece.size(), op.offset + done);
    if (moved < 0) return done > 0 ? static_cast<std::int64_t>(done) : moved;
    const auto got = static_cast<std::uint64_t>(moved);
    if (check && difference_ == UINT64_MAX) {
      const std::uint64_t begin = now_ns();
      const auto at = content_.first_difference(op.entry, op.offset + done, piece.first(got));
      if (at < got) difference_ = done + at;
      own_ns_ += now_ns() - begin;
    }
    done += got;
    if (got < piece.size()) break;
  }
  return static_cast<std::int64_t>(done);
}

// Usually for a directory; one that is already open needs no handle of its own.
template <class Calls>
std::int64_t OperationExecutor<Calls>::stat_volume(const Operation& op) noexcept {
  if (op.file == kNoFile) {
    const std::uint64_t begin = now_ns();
    const std::int64_t directory = parents_.directory(op.path);
    if (directory >= 0) return Calls::stat_volume({static_cast<int>(directory), nullptr});
    own_ns_ += now_ns() - begin;  // it is a file
  }
  return at_target(op, [](CallTarget at) { return Calls::stat_volume(at); });
}

// Kernel copies may transfer less than requested. The operation ends when it has transferred as
// much as in the trace.
template <class Calls>
std::int64_t OperationExecutor<Calls>::copy_range(const Operation& op) noexcept {
  const int from = fd(op.source);
  const int to = fd(op.file);
  if (op.method == CopyMethod::reflink) {
    const std::int64_t result = Calls::clone(from, op.second, to, op.offset, op.length);
    return result < 0 ? result : static_cast<std::int64_t>(op.length);
  }
  const std::uint64_t length =
      op.expected > 0 ? std::min(op.length, static_cast<std::uint64_t>(op.expected)) : op.length;
  std::uint64_t done = 0;
  while (done < length) {
    // A splice between two files needs a pipe, which sendfile has internally.
    const std::int64_t moved =
        op.method == CopyMethod::copy_file_range
            ? Calls::copy_file_range(from, op.second + done, to, op.offset + done, length - done)
            : Calls::sendfile(from, op.second + done, to, op.offset + done, length - done);
    if (moved < 0) return done > 0 ? static_cast<std::int64_t>(done) : moved;
    if (moved == 0) break;
    done += static_cast<std::uint64_t>(moved);
    if (context_.stop.stop_requested()) break;
  }
  return static_cast<std::int64_t>(done);
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::link(const Operation& op) noexcept {
  if (op.file != kNoFile) {
    return parents_.with(op.path, [&](int parent, const char* name) {
      return Calls::link({fd(op.file), nullptr}, parent, name);
    });
  }
  return parents_.with_both(op.path, op.old_path,
                            [](int parent, const char* name, int old, const char* old_name) {
                              return Calls::link({old, old_name}, parent, name);
                            });
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::remove_directory(const Operation& op) noexcept {
  parents_.forget(op.path);
  const std::int64_t result = parents_.with(op.path, [](int parent, const char* name) {
    return Calls::unlink(parent, name, AT_REMOVEDIR);
  });
  name_changed(op.path, false);
  return result;
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::rename(const Operation& op) noexcept {
  parents_.forget(op.path);
  const std::int64_t result = parents_.with_both(
      op.old_path, op.path, [&](int old, const char* old_name, int parent, const char* name) {
        return Calls::rename(old, old_name, parent, name, op.flags & ~kWhiteout);
      });
  name_changed(op.old_path, true);
  name_changed(op.path, true);
  return result;
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::list(const Operation& op) noexcept {
  if (op.file >= context_.open_files.size()) return -EBADF;
  OpenFile& directory = context_.open_files[op.file];
  const int fd = directory.fd.load(std::memory_order_acquire);
  if (op.offset == 0 && directory.listed.exchange(true, std::memory_order_relaxed)) {
    const std::int64_t result = Calls::seek(fd, 0, SEEK_SET);
    if (result < 0) return result;
  }
  return only_error(Calls::list(fd, scratch_.first(op.length)));
}

// Never waits in the kernel: a trace could deadlock threads.
template <class Calls>
std::int64_t OperationExecutor<Calls>::lock(const Operation& op) noexcept {
  const int fd = this->fd(op.file);
  std::int64_t result = Calls::lock(fd, op.flags, op.offset, op.length);
  // A lock that the trace did not get must not be withheld from the thread that got it there.
  if (result == 0 && op.expected == -EAGAIN) {
    Calls::lock(fd, (op.flags & lock_flags::kRecord) | lock_flags::kUnlock, op.offset, op.length);
  }
  if ((op.flags & lock_flags::kWait) == 0) return result;
  const std::uint64_t deadline = now_ns() + kLockPatienceNs;
  for (timespec pause{0, 50'000}; result == -EAGAIN || result == -EACCES;) {
    if (now_ns() > deadline || context_.stop.stop_requested()) break;
    nanosleep(&pause, nullptr);
    pause.tv_nsec = std::min(pause.tv_nsec * 2, 5'000'000L);
    result = Calls::lock(fd, op.flags, op.offset, op.length);
  }
  return result;
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::attribute(const Operation& op) noexcept {
  const char* const name = context_.texts->text(op.text).c_str();
  const std::span<std::byte> bytes = scratch_.first(op.length);
  return only_error(at_target(op, [&](CallTarget at) -> std::int64_t {
    switch (op.kind) {
      case OperationKind::get_xattr:
        return Calls::get_xattr(at, name, bytes);
      case OperationKind::list_xattr:
        return Calls::list_xattr(at, bytes);
      case OperationKind::remove_xattr:
        return Calls::remove_xattr(at, name);
      default:
        if (op.length > bytes.size()) return -E2BIG;
        return Calls::set_xattr(at, name, bytes, static_cast<int>(op.flags));
    }
  }));
}

// Programs are looked up, not run: errors of running them are taken from the trace.
template <class Calls>
std::int64_t OperationExecutor<Calls>::execute(const Operation& op) noexcept {
  const std::int64_t result = parents_.with(
      op.path, [](int parent, const char* name) { return Calls::access(parent, name, X_OK); });
  if (result == 0 && !is_missing(op.expected)) return op.expected;
  return result;
}

// Nothing executes or writes in these mappings: a private one is only read, and only `fault` brings
// pages in. A mapping of any size therefore needs address space but no memory.
template <class Calls>
std::int64_t OperationExecutor<Calls>::map(const Operation& op) noexcept {
  if (op.source >= context_.mappings.size()) return -EINVAL;
  const auto wanted = static_cast<int>(op.flags >> 8);
  const int type = wanted & MAP_TYPE;
  if (type != MAP_SHARED && type != MAP_PRIVATE && type != MAP_SHARED_VALIDATE) return -EINVAL;
  const bool shared = type != MAP_PRIVATE;
  const int protection = PROT_READ | (shared ? static_cast<int>(op.flags & PROT_WRITE) : 0);
  const int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE;

  unmap(op.source);  // only for traces that did not unmap it
  Mapping& mapping = context_.mappings[op.source];
  std::byte* free = nullptr;
  if (!mapping.begin.compare_exchange_strong(free, kTaken))
    return -EAGAIN;  // another thread uses it
  // A mapping may start in the middle of a page if those of the recording were smaller.
  const bool is_valid =
      op.offset % kSmallestPage == 0 && op.length != 0 && op.length < UINT64_MAX - page_bytes_;
  const std::uint64_t before = is_valid ? op.offset % page_bytes_ : 0;
  std::byte* begin = nullptr;
  const std::int64_t result =
      Calls::map(fd(op.file), op.offset - before, op.length + before, protection, flags, begin);
  mapping.length.store(op.length + before);
  mapping.before.store(before);
  mapping.begin.store(begin);
  return result;
}

template <class Calls>
std::int64_t OperationExecutor<Calls>::unmap(FileSlot number) noexcept {
  if (number >= context_.mappings.size()) return -EINVAL;
  Mapping& mapping = context_.mappings[number];
  std::byte* begin = mapping.begin.load();
  do {
    if (begin == nullptr || begin == kTaken) return -EINVAL;
  } while (!mapping.begin.compare_exchange_weak(begin, kTaken));
  const std::int64_t result = Calls::unmap(begin, mapping.length.load());
  mapping.begin.store(nullptr);
  return result;
}

// Returns call(begin, length) for a range of a mapping, in whole pages. With the loosest order
// another thread may unmap it meanwhile. The call then finds nothing, or memory that it does not
// modify.
template <class Calls>
template <class Call>
std::int64_t OperationExecutor<Calls>::in_mapping(const Operation& op, Call call) noexcept {
  if (op.source >= context_.mappings.size()) return -EINVAL;
  const Mapping& mapping = context_.mappings[op.source];
  std::byte* const begin = mapping.begin.load();
  if (begin == nullptr || begin == kTaken) return -ENOMEM;
  // The last page is mapped completely.
  const std::uint64_t length =
      (mapping.length.load() + page_bytes_ - 1) / page_bytes_ * page_bytes_;
  const std::uint64_t before = mapping.before.load();
  if (op.length > length || op.offset > length - op.length ||
      before > length - op.length - op.offset) {
    return -ENOMEM;
  }
  const std::uint64_t offset = op.offset + before;
  const std::uint64_t from = offset / page_bytes_ * page_bytes_;
  if (from >= length) return -ENOMEM;
  const std::uint64_t wanted = std::min(offset - from + op.length, kMaxTransfer);
  return call(begin + from, (wanted + page_bytes_ - 1) / page_bytes_ * page_bytes_);
}

template class OperationExecutor<LinuxCalls>;
template class OperationExecutor<NullCalls>;

}  // namespace filereel
