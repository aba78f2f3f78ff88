#include "traces/calls/call_forms.h"

#include <utility>

#include <fcntl.h>

namespace filereel {

bool means_descriptor(const SystemCall& call) {
  return call.path.empty() && (call.flags & AT_EMPTY_PATH) != 0;
}

void take_descriptor(Call by_descriptor, SystemCall& call) {
  if (call.dir == SystemCall::kCwd) {
    call.path = ".";
    return;
  }
  call.call = by_descriptor;
  call.fd = call.dir;
  std::swap(call.fd_path, call.dir_path);
  std::swap(call.file, call.dir_file);
  call.dir = SystemCall::kCwd;
}

Fcntl take_fcntl(int command, std::uint64_t argument, SystemCall& call) {
  switch (command) {
    case F_DUPFD_CLOEXEC:
      call.flags = O_CLOEXEC;
      [[fallthrough]];
    case F_DUPFD:
      call.call = Call::dup;
      return Fcntl::whole;
    case F_SETFD:
      call.call = Call::set_cloexec;
      call.flags = argument & FD_CLOEXEC;
      return Fcntl::whole;
    case F_SETFL:
      call.call = Call::set_flags;
      call.flags = argument & UINT32_MAX;
      return Fcntl::whole;
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
      call.call = Call::record_lock;
      call.mode = command == F_SETLKW || command == F_OFD_SETLKW ? 1 : 0;
      return Fcntl::lock;
    default:
      return Fcntl::other;
  }
}

}  // namespace filereel
