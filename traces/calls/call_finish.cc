#include "traces/calls/call_finish.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "traces/calls/call_flags.h"
#include "traces/open_flags.h"

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
