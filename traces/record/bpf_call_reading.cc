#include "traces/record/bpf_call_reading.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "traces/calls/call_table.h"
#include "traces/open_flags.h"
#include "traces/record/bpf_calls.h"

namespace filereel {
namespace {

// Two times, each of seconds and a fraction in units of `unit` nanoseconds; 0: seconds only.
void read_times(const BpfEventView::Part& copy, std::uint64_t unit, CallArguments& to) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto word = [&](std::size_t at) {
      return BpfEventView::number<std::uint64_t>(copy, at * sizeof(std::uint64_t));
    };
    if (!copy.there) {
      to.set_time(i, 0, UTIME_NOW, 1);
    } else if (unit == 0) {
      to.set_time(i, word(i), 0, 1);
    } else {
      to.set_time(i, word(2 * i), word(2 * i + 1), unit);
    }
  }
}

// The value in a trace of a number from the kernel.
std::uint64_t in_trace(Argument role, std::uint64_t number) {
  return role == Argument::open_flags ? open_flags::from_kernel(number) : number;
}

void read_structure(const BpfEventView::Part& copy, std::uint64_t pointer,
                    const Structure& structure, CallArguments& to) {
  if (pointer == 0) return;
  if (!copy.there) return to.lacks(structure);
  // Read after the call has advanced it.
  const bool moves =
      structure.role == Argument::offset_pointer || structure.role == Argument::offset2_pointer;
  const std::uint64_t moved =
      moves && to.succeeded() ? static_cast<std::uint64_t>(to.call().result) : 0;
  for (const Structure::Member& member : structure.members) {
    if (member.role == Argument::end) break;
    const std::uint64_t number = BpfEventView::number(copy, member.offset, member.size);
    to.set(member.role, in_trace(member.role, number - moved));
  }
}

void read_string(const BpfEventView& event, std::size_t which, std::size_t argument,
                 std::string& text, CallArguments& to) {
  const BpfEventView::Part& part = event.string(which);
  if (part.there) {
    text = part.bytes;
  } else if (to.call().call != Call::open || !event.real(0).sibling) {  // its real name may suffice
    to.lacks_text(event.argument(argument) == 0);
  }
}

// The path in a socket's address; empty: it has none, or an abstract name.
std::string_view socket_path(std::string_view address) {
  constexpr std::size_t kPath = offsetof(sockaddr_un, sun_path);
  sa_family_t family = AF_UNSPEC;
  if (address.size() <= kPath) return {};
  std::memcpy(&family, address.data(), sizeof family);
  if (family != AF_UNIX) return {};
  address.remove_prefix(kPath);
  return address.substr(0, address.find('\0'));
}

// Reads argument `i`. `copies`: number of structures before it.
void read_argument(const BpfEventView& event, std::size_t i, std::size_t& copies,
                   CallArguments& to) {
  SystemCall& call = to.call();
  const Argument role = to.role(i);
  std::uint64_t number = event.argument(i) & UINT32_MAX;
  switch (role) {
    case Argument::none:
    case Argument::unshown:
      return;
    case Argument::descriptor:
      call.file = event.head().file[0];
      break;
    case Argument::descriptor2:
      call.file2 = event.head().file[1];
      break;
    case Argument::directory:
      call.dir_file = event.head().file[0];
      break;
    case Argument::directory2:
      call.dir2_file = event.head().file[1];
      break;
    case Argument::offset:
    case Argument::offset2:
    case Argument::length:
    case Argument::address:
      number = event.argument(i);
      break;
    case Argument::path:
      return read_string(event, 0, i, call.path, to);
    case Argument::path2:
      return read_string(event, 1, i, call.path2, to);
    case Argument::text:
      return read_string(event, 2, i, call.text, to);
    case Argument::buffers:
      call.length = event.head().extra;
      call.data = event.copy(copies++).bytes;
      return;
    case Argument::data:
      call.data = event.copy(copies++).bytes;
      return;
    case Argument::entries:
      call.entries = event.head().extra;
      return;
    case Argument::value:
      call.value = event.copy(copies++).bytes;
      return;
    case Argument::socket_name:
      call.path = socket_path(event.copy(copies++).bytes);
      return;
    case Argument::link_text:
      if (to.succeeded()) call.text = event.result().bytes;
      return;
    case Argument::times_ns:
      return read_times(event.copy(copies++), 1, to);
    case Argument::times_us:
      return read_times(event.copy(copies++), 1000, to);
    case Argument::times_s:
      return read_times(event.copy(copies++), 0, to);
    default:
      if (const Structure* structure = structure_of(role)) {
        return read_structure(event.copy(copies++), event.argument(i), *structure, to);
      }
  }
  to.set(role, in_trace(role, number));
}

// The file of the descriptor that the call returned.
void read_result_file(const BpfEventView& event, SystemCall& call) {
  if (call.call == Call::open || call.call == Call::dup || call.call == Call::new_descriptor) {
    call.result_file = event.head().extra;
    if (event.real(0).there) call.result_path = real_path(event.real(0));
  }
}

void describe_opened(const BpfEventView& event, SystemCall& call) {
  constexpr std::uint32_t kCreated = 0x100000;  // FMODE_CREATED
  if (call.call != Call::open || !event.identity()) return;
  call.stat = seen_stat(*event.identity());
  call.created = (event.identity()->open_mode & kCreated) != 0;
  if (event.head().flags & EVENT_TRUNCATED) call.size_before = event.head().position;
}

}  // namespace

CallReading read_bpf_call(const BpfEventView& event, bool ended, SystemCall& call) {
  const CallRow* row = bpf_call_row(event.head().number);
  if (!row) return CallReading::nothing;
  call.result = ended ? event.head().result : 0;
  CallArguments to(*row, ended, call);
  std::size_t copies = 0;
  for (std::size_t i = 0; i < row->arguments.size() && row->arguments[i] != Argument::end; ++i) {
    read_argument(event, i, copies, to);
  }
  if (event.real(1).there) {
    const std::string directory = real_path(event.real(1));
    if (call.dir == SystemCall::kCwd) call.dir_path = directory;
    if (call.dir2 == SystemCall::kCwd) call.dir2_path = directory;
  }
  const bool has_position = call.file != 0 && (event.head().flags & EVENT_REPLACED) == 0;
  if (ended && (call.call == Call::read || call.call == Call::write) && has_position) {
    call.position = event.head().position;
  }
  if (to.succeeded()) read_result_file(event, call);
  const CallReading reading = to.finish();
  if (to.succeeded()) describe_opened(event, call);
  return reading;
}

}  // namespace filereel
