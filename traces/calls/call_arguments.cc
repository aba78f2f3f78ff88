#include "traces/calls/call_arguments.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "traces/calls/known_calls.h"
#include "traces/open_flags.h"
#include "traces/operation.h"

namespace filereel::call_finish {
namespace {

// The descriptor variant of a call by path.
Call descriptor_form(Call by_path) {
  switch (by_path) {
    case Call::stat:
      return Call::fstat;
    case Call::chmod:
      return Call::fchmod;
    case Call::chown:
      return Call::fchown;
    case Call::utimens:
      return Call::futimens;
    default:
      return by_path;
  }
}

bool close_on_exec(std::uint64_t flag, SystemCall& call) {
  call.flags = (call.flags & flag) != 0 ? O_CLOEXEC : 0;
  return true;
}

}  // namespace

bool by_descriptor(SystemCall& call) {
  if (!call.path.empty() || (call.flags & AT_EMPTY_PATH) == 0) return true;
  if (call.dir == SystemCall::kCwd) {
    call.path = ".";
    return true;
  }
  call.call = descriptor_form(call.call);
  call.fd = std::exchange(call.dir, SystemCall::kCwd);
  std::swap(call.fd_path, call.dir_path);
  std::swap(call.file, call.dir_file);
  return true;
}

bool at_own_position(SystemCall& call) {
  if (call.offset == UINT64_MAX) call.offset.reset();
  return true;
}

bool descriptor_command(SystemCall& call) {
  if (call.call == Call::set_cloexec) call.flags &= FD_CLOEXEC;
  return true;
}

// The first argument is the destination.
bool clone_command(SystemCall& call) {
  if (call.call != Call::clone_range) return true;
  if (call.fd2 == SystemCall::kNone) {  // it could not be read
    if (call.result >= 0) return false;
    call.fd2 = call.fd;
  }
  std::swap(call.fd, call.fd2);
  std::swap(call.fd_path, call.fd2_path);
  std::swap(call.file, call.file2);
  call.offset = call.offset.value_or(0);
  call.offset2 = call.offset2.value_or(0);
  return true;
}

bool file_or_directory(SystemCall& call) {
  if ((call.flags & AT_REMOVEDIR) != 0) call.call = Call::rmdir;
  return true;
}

bool file_or_memory(SystemCall& call) {
  if ((call.flags & MAP_ANONYMOUS) != 0) call.fd = SystemCall::kNone;
  return true;
}

// The kernel can be asked for its permission only.
bool really_executed(SystemCall& call) {
  return (call.flags & call_flags::kExecCheck) == 0;
}

bool ended_child(SystemCall& call) {
  return call.result > 0 && (call.flags & WNOWAIT) == 0;  // 0: none has ended
}

bool two_ends(SystemCall& call) {
  call.flags &= O_CLOEXEC;
  call.fd_path.clear();  // not the path of a file
  call.fd2_path.clear();
  return call.result >= 0 && call.fd != SystemCall::kNone && call.fd2 != SystemCall::kNone;
}

// With a descriptor, the call changes the signals of that descriptor.
bool new_or_changed(SystemCall& call) {
  if (call.fd != -1) return false;
  call.fd = SystemCall::kNone;
  return true;
}

bool memory_file(SystemCall& call) {
  return close_on_exec(MFD_CLOEXEC, call);
}

bool performance_counter(SystemCall& call) {
  return close_on_exec(PERF_FLAG_FD_CLOEXEC, call);
}

// Its path is known only once it is open, if at all.
bool file_by_handle(SystemCall& call) {
  if (!call.result_path.starts_with('/')) {
    if (call.result >= 0 && call.result_file == 0) call.call = Call::unsupported_open;
    return true;
  }
  call.call = Call::open;
  call.path = call.result_path;
  call.path_is_real = true;
  return true;
}

bool named_socket(SystemCall& call) {
  if (call.path.empty()) return false;
  if (call.result == -EADDRINUSE) call.result = -EEXIST;  // the name exists
  call.mode = S_IFSOCK | 0777;
  return true;
}

// Without a copy of the mounts it is an open with O_PATH. Paths in a copy start at its own root, as
// far as a tracer sees.
bool place_in_tree(SystemCall& call) {
  constexpr std::uint64_t kClone = 1;  // OPEN_TREE_CLONE
  constexpr std::uint64_t kKnown =
      AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_RECURSIVE | O_CLOEXEC;
  const std::uint64_t flags = call.flags;
  if ((flags & kClone) != 0 || (call.path.empty() && (flags & AT_EMPTY_PATH) != 0)) {
    call.call = Call::unsupported_open;
    return true;
  }
  call.flags = O_PATH | (flags & O_CLOEXEC);
  if ((flags & AT_SYMLINK_NOFOLLOW) != 0) call.flags |= open_flags::kNoFollow;
  if ((flags & ~kKnown) != 0) call.flags |= kUnknownFlag;
  return true;
}

}  // namespace filereel::call_finish

namespace filereel {

void CallArguments::select(std::uint64_t command) {
  for (const CallCommand& one : row_.commands) {
    if (one.value != command) continue;
    selected_ = true;
    commanded_ = one.argument;
    call_.call = one.call;
    call_.flags |= one.flags;
    call_.mode = one.mode;
    if (!one.name.empty()) call_.name = one.name;
    return;
  }
  harmless_ = row_.is_harmless(command);
}

void CallArguments::set(Argument role, std::uint64_t number) {
  switch (role) {
    case Argument::descriptor:
      call_.fd = static_cast<int>(number);
      break;
    case Argument::descriptor2:
      call_.fd2 = static_cast<int>(number);
      break;
    case Argument::first:
      call_.fd = static_cast<int>(std::min<std::uint64_t>(number, INT_MAX));
      break;
    case Argument::last:
      call_.fd2 = static_cast<int>(std::min<std::uint64_t>(number, INT_MAX));
      break;
    case Argument::directory:
      call_.dir = static_cast<int>(number);
      break;
    case Argument::directory2:
      call_.dir2 = static_cast<int>(number);
      break;
    case Argument::flags:
    case Argument::open_flags:
      call_.flags |= number;
      break;
    case Argument::mode:
      call_.mode = number;
      break;
    case Argument::offset:
      call_.offset = number;
      break;
    case Argument::offset2:
      call_.offset2 = number;
      break;
    case Argument::length:
      call_.length = number;
      break;
    case Argument::address:
      call_.address = number;
      break;
    case Argument::command:
      select(number);
      break;
    case Argument::resolve:
      call_.resolve = number;
      break;
    case Argument::result:
      if (succeeded()) call_.result = static_cast<std::int64_t>(number);
      break;
    case Argument::seen_mode:
      if (succeeded()) seen().mode = static_cast<std::uint32_t>(number);
      break;
    case Argument::seen_size:
      if (succeeded()) seen().size = number;
      break;
    case Argument::seen_inode:
      if (succeeded()) seen().inode = number;
      break;
    case Argument::seen_device:
      if (succeeded()) seen().device = number;
      break;
    case Argument::seen_major:
      if (succeeded()) seen().device |= makedev(static_cast<unsigned>(number), 0);
      break;
    case Argument::seen_minor:
      if (succeeded()) seen().device |= makedev(0, static_cast<unsigned>(number));
      break;
    default:
      break;
  }
}

void CallArguments::set_time(std::size_t which, std::uint64_t seconds, std::uint64_t part,
                             std::uint64_t unit) {
  std::uint64_t& time = call_.times[which];
  if (part == UTIME_NOW || part == UTIME_OMIT) {
    time = part == UTIME_NOW ? kTimeNow : kTimeOmit;
    return;
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto whole = static_cast<std::int64_t>(seconds);
  std::int64_t ns = 0;
  bool moved = __builtin_mul_overflow(whole, kSecond, &ns) ||
               __builtin_add_overflow(ns, static_cast<std::int64_t>(part * unit), &ns);
  if (moved) ns = whole < 0 ? INT64_MIN : INT64_MAX;
  time = static_cast<std::uint64_t>(ns);
  if (time >= kTimeOmit) {  // the last two nanoseconds before 1970 have other meanings
    time = kTimeOmit - 1;
    moved = true;
  }
  call_.times_moved |= moved;
}

void CallArguments::lacks_text(bool is_null) {
  lacks_text_ = true;
  all_null_ &= is_null;
}

// What a call transferred is known from its result.
void CallArguments::lacks_number(Argument role) {
  call_.unreadable = true;
  const bool transfers = call_.call == Call::read || call_.call == Call::write;
  if (role == Argument::offset && transfers) call_.offset = kUnreadableOffset;
  if (role == Argument::length && transfers && succeeded()) {
    call_.length = static_cast<std::uint64_t>(call_.result);
  }
}

CallReading CallArguments::finish() {
  if (!row_.commands.empty() && !selected_) {
    if (harmless_) return CallReading::nothing;
    call_.call = Call::unsupported;
  }
  const bool is_supported = call_.call != Call::unsupported && call_.call != Call::unknown;
  if (!is_supported) return succeeded() ? CallReading::call : CallReading::nothing;
  // A null path can mean the descriptor itself, like an empty path.
  if (lacks_text_ && all_null_ && row_.finish == call_finish::by_descriptor) {
    if (call_.call == Call::utimens) call_.flags |= AT_EMPTY_PATH;
    if ((call_.flags & AT_EMPTY_PATH) != 0) lacks_text_ = false;
  }
  if (lacks_text_) {
    if (call_.result != -EFAULT) return CallReading::no_path;
    // A call that fails because of its pointer is counted with its kind, even without a path.
    call_.path_unread = true;
  }
  if (lacks_structure_ && call_.result >= 0) {
    call_.unreadable = true;
    return CallReading::call;
  }
  return !row_.finish || row_.finish(call_) ? CallReading::call : CallReading::nothing;
}

}  // namespace filereel
