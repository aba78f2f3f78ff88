#include "traces/record/bpf_finish.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <linux/stat.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "traces/calls/call_forms.h"
#include "traces/operation.h"

namespace filereel::bpf_finish {
namespace {

constexpr std::uint64_t kMfdCloexec = 1;

std::uint64_t word(const BpfEventView::Part& part, std::size_t offset) {
  return BpfEventView::number<std::uint64_t>(part, offset);
}

std::uint64_t time_of(std::uint64_t seconds, std::uint64_t part, std::uint64_t unit) {
  if (part == UTIME_NOW) return kTimeNow;
  if (part == UTIME_OMIT) return kTimeOmit;
  return seconds * 1'000'000'000 + part * unit;
}

// Two structures of seconds and parts of `unit` nanoseconds; none: the time of the call.
bool times(const BpfEventView& event, SystemCall& call, std::uint64_t unit) {
  call.times[0] = call.times[1] = kTimeNow;
  const BpfEventView::Part& copy = event.copy(0);
  if (!copy.there) return true;
  for (std::size_t i = 0; i < 2; ++i) {
    call.times[i] = time_of(word(copy, i * 16), word(copy, i * 16 + 8), unit);
  }
  return true;
}

// Offsets behind pointers are read when the call has moved them on.
std::optional<std::uint64_t> before(const BpfEventView::Part& copy, const SystemCall& call) {
  if (!copy.there) return std::nullopt;
  const auto moved = static_cast<std::uint64_t>(std::max<std::int64_t>(call.result, 0));
  return word(copy, 0) - moved;
}

// Whether the call can be told: what failed for this pointer is only counted.
bool is_told(const BpfEventView::Part& copy, const SystemCall& call) {
  return copy.there || call.result == -EFAULT;
}

}  // namespace

bool open_how(const BpfEventView& event, SystemCall& call) {
  call.flags = word(event.copy(0), offsetof(::open_how, flags));
  call.mode = word(event.copy(0), offsetof(::open_how, mode));
  call.resolve = word(event.copy(0), offsetof(::open_how, resolve));
  return is_told(event.copy(0), call);
}

// A file by its handle: its path is known when it is open.
bool by_handle(const BpfEventView& event, SystemCall& call) {
  call.result_path = real_path(event.real(0));
  if (call.result < 0 || !call.result_path.starts_with('/')) return call.result >= 0;
  call.call = Call::open;
  call.path = call.result_path;
  call.result_file = event.head().extra;
  if (event.identity()) call.stat = seen_stat(*event.identity());
  return true;
}

// An open file of another process: what it is, is known when it is used.
bool handed_over(const BpfEventView& event, SystemCall& call) {
  call.result_file = event.head().extra;
  call.result_path = real_path(event.real(0));
  return call.result >= 0;
}

bool range_of_descriptors(const BpfEventView& event, SystemCall& call) {
  const auto clamped = [&](std::size_t i) {
    return static_cast<int>(std::min<std::uint64_t>(event.argument(i) & UINT32_MAX, INT_MAX));
  };
  call.fd = clamped(0);
  call.fd2 = clamped(1);
  return true;
}

bool perhaps_positional(const BpfEventView&, SystemCall& call) {
  if (call.offset == UINT64_MAX) call.offset.reset();
  return true;
}

bool one_offset(const BpfEventView& event, SystemCall& call) {
  call.offset = before(event.copy(0), call);
  return true;
}

bool two_offsets(const BpfEventView& event, SystemCall& call) {
  call.offset = before(event.copy(0), call);
  call.offset2 = before(event.copy(1), call);
  return true;
}

bool ioctl(const BpfEventView& event, SystemCall& call) {
  const BpfEventView::Part& range = event.copy(0);
  switch (event.argument(1) & UINT32_MAX) {
    case FIOCLEX:
    case FIONCLEX:
      call.call = Call::set_cloexec;
      call.flags = (event.argument(1) & UINT32_MAX) == FIOCLEX ? 1 : 0;
      return true;
    case FICLONE:
      call.fd2 = std::exchange(call.fd, event.descriptor(2));
      call.offset = call.offset2 = 0;
      break;
    case FICLONERANGE:
      call.fd2 =
          std::exchange(call.fd, static_cast<int>(word(range, offsetof(file_clone_range, src_fd))));
      call.offset = word(range, offsetof(file_clone_range, src_offset));
      if (!is_told(range, call)) return false;
      call.length = word(range, offsetof(file_clone_range, src_length));
      call.offset2 = word(range, offsetof(file_clone_range, dest_offset));
      break;
    default:
      return false;
  }
  call.file2 = std::exchange(call.file, 0);
  return true;
}

bool fcntl(const BpfEventView& event, SystemCall& call) {
  const Fcntl form = take_fcntl(static_cast<int>(event.argument(1)), event.argument(2), call);
  call.result_file = call.call == Call::dup && call.result >= 0 ? event.head().extra : 0;
  if (form != Fcntl::lock) return form == Fcntl::whole;
  const BpfEventView::Part& lock = event.copy(0);
  call.flags = BpfEventView::number<std::uint16_t>(lock, offsetof(flock, l_type));
  call.offset = word(lock, offsetof(flock, l_start));
  call.offset2 = BpfEventView::number<std::uint16_t>(lock, offsetof(flock, l_whence));
  call.length = word(lock, offsetof(flock, l_len));
  return is_told(lock, call);
}

bool stat(const BpfEventView& event, SystemCall& call) {
  using Stat = struct ::stat;
  const BpfEventView::Part& copy = event.copy(0);
  if (call.result < 0 || !copy.there) return true;
  SeenStat& seen = call.stat.emplace();
  seen.mode = BpfEventView::number<std::uint32_t>(copy, offsetof(Stat, st_mode));
  seen.size = word(copy, offsetof(Stat, st_size));
  seen.device = word(copy, offsetof(Stat, st_dev));
  seen.inode = word(copy, offsetof(Stat, st_ino));
  return true;
}

bool stat_at(const BpfEventView& event, SystemCall& call) {
  stat(event, call);
  if (means_descriptor(call)) take_descriptor(Call::fstat, call);
  return true;
}

bool statx(const BpfEventView& event, SystemCall& call) {
  const BpfEventView::Part& copy = event.copy(0);
  if (call.result >= 0 && copy.there) {
    SeenStat& seen = call.stat.emplace();
    seen.mode = BpfEventView::number<std::uint16_t>(copy, offsetof(struct statx, stx_mode));
    seen.size = word(copy, offsetof(struct statx, stx_size));
    seen.inode = word(copy, offsetof(struct statx, stx_ino));
    seen.device =
        makedev(BpfEventView::number<std::uint32_t>(copy, offsetof(struct statx, stx_dev_major)),
                BpfEventView::number<std::uint32_t>(copy, offsetof(struct statx, stx_dev_minor)));
  }
  if (means_descriptor(call)) take_descriptor(Call::fstat, call);
  return true;
}

bool read_link(const BpfEventView& event, SystemCall& call) {
  if (call.result >= 0) call.text = event.result().bytes;
  return true;
}

bool list(const BpfEventView& event, SystemCall& call) {
  call.entries = event.head().extra;
  return true;
}

bool unlink_at(const BpfEventView&, SystemCall& call) {
  if ((call.flags & AT_REMOVEDIR) != 0) call.call = Call::rmdir;
  return true;
}

bool mode_at(const BpfEventView&, SystemCall& call) {
  if (means_descriptor(call)) take_descriptor(Call::fchmod, call);
  return true;
}

bool owner_at(const BpfEventView&, SystemCall& call) {
  if (means_descriptor(call)) take_descriptor(Call::fchown, call);
  return true;
}

bool times_utime(const BpfEventView& event, SystemCall& call) {
  call.times[0] = call.times[1] = kTimeNow;
  const BpfEventView::Part& copy = event.copy(0);
  if (!copy.there) return true;
  for (std::size_t i = 0; i < 2; ++i) call.times[i] = word(copy, i * 8) * 1'000'000'000;
  return true;
}

bool times_utimes(const BpfEventView& event, SystemCall& call) {
  return times(event, call, 1000);
}

bool times_utimensat(const BpfEventView& event, SystemCall& call) {
  if (event.argument(1) == 0) call.flags |= AT_EMPTY_PATH;  // no path: the descriptor itself
  if (means_descriptor(call)) take_descriptor(Call::futimens, call);
  return times(event, call, 1);
}

bool map(const BpfEventView&, SystemCall& call) {
  if ((call.flags & MAP_ANONYMOUS) != 0) call.fd = SystemCall::kNone;
  return true;
}

bool unshared(const BpfEventView& event, SystemCall& call) {
  call.flags = event.argument(0);
  return true;
}

bool waited(const BpfEventView&, SystemCall& call) {
  return call.result > 0;  // 0: none has ended
}

bool waited_id(const BpfEventView& event, SystemCall& call) {
  const auto process =
      BpfEventView::number<std::uint32_t>(event.copy(0), offsetof(siginfo_t, si_pid));
  if (call.result < 0 || process == 0 || (event.argument(3) & WNOWAIT) != 0) return false;
  call.result = process;
  return true;
}

bool changed_signals(const BpfEventView&, SystemCall& call) {
  if (call.fd != -1) return false;
  call.fd = SystemCall::kNone;
  return true;
}

bool memory_file(const BpfEventView& event, SystemCall& call) {
  call.result_file = event.head().extra;
  call.flags = (event.argument(1) & kMfdCloexec) != 0 ? O_CLOEXEC : 0;
  return true;
}

bool performance(const BpfEventView& event, SystemCall& call) {
  call.flags = (event.argument(4) & PERF_FLAG_FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
  return true;
}

bool pair(const BpfEventView& event, SystemCall& call) {
  if (call.result < 0) return false;
  call.fd = BpfEventView::number<int>(event.copy(0), 0);
  call.fd2 = BpfEventView::number<int>(event.copy(0), sizeof(int));
  call.flags &= O_CLOEXEC;
  return event.copy(0).there;
}

}  // namespace filereel::bpf_finish
