#include "traces/record/bpf/bpf_translation.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "filesets/system/mounts.h"
#include "traces/calls/call_table.h"
#include "traces/calls/this_machine.h"
#include "traces/open_flags.h"
#include "traces/record/bpf/bpf_calls.h"

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

namespace {

static_assert(WAIT_FOR_THREAD == wait_flags::kForThread &&
              WAIT_FOR_OUTSIDE == wait_flags::kForOutside &&
              WAIT_FOR_PROCESSOR == wait_flags::kForProcessor &&
              WAIT_FOR_RECORDER == wait_flags::kForRecorder);

}  // namespace

std::string mount_point_of(std::uint64_t device) {
  for (const MountedFileSystem& mounted : mounted_file_systems()) {
    if (mounted.device == device && mounted.root == "/") return mounted.mount_point;
  }
  return {};
}

void BpfTranslation::renew(SystemCall& call) {
  static const SystemCall kFresh;
  call = kFresh;  // keeps the capacity of its strings
  const bpf_event& head = event_.head();
  call.thread = head.thread;
  call.process = head.process;
  call.enter_ns = time(head.begin_ns);
  call.exit_ns = time(head.end_ns);
}

void BpfTranslation::take(std::span<const std::byte> bytes) {
  if (!event_.read(bytes)) return builder_.lost("corrupt events");
  const bpf_event& head = event_.head();
  if (head.process == ignored_) {
    if (head.kind == EVENT_EXIT) ignored_ = 0;  // the number may be reused
    return;
  }
  bool begins = false;
  if (awaited_ != 0) {
    if (head.kind != EVENT_EXEC || head.process != awaited_) return;
    awaited_ = 0;
    zero_ns_ = head.begin_ns;
    begins = true;
  }
  if (head.kind != EVENT_EXIT && memory_ && memory_->is_reached()) {
    // Count a call only at its end.
    if (head.kind != EVENT_ENTER) memory_->drop(event_name(head.kind, head.number), builder_);
    return;
  }
  renew(call_);
  switch (head.kind) {
    case EVENT_CALL:
      return take_call(true);
    case EVENT_ENTER:
      return take_call(false);
    case EVENT_FORK:
      call_.call = Call::fork;
      call_.result = event_.head().result;
      call_.flags = event_.argument(0);
      return resolver_.returned(call_);
    case EVENT_EXEC:
      take_exec();
      if (begins) take_beginning();
      return;
    case EVENT_EXIT:
      return take_exit();
    case EVENT_FAULT:
      return take_fault();
    case EVENT_FILE:
      return take_file();
    case EVENT_SUBMIT:
      if (event_.identity()) take_file();
      return requests_.submitted(event_, call_);
    case EVENT_WAIT:
      if (event_.argument(1) != 0) count_stop();
      call_.call = Call::waited;
      call_.mode = head.flags == WAIT_FOR_PAGE ? 1 : 0;
      call_.flags = call_.mode ? wait_flags::kForOutside : head.flags;
      call_.result = head.result;
      call_.length = event_.argument(0);
      return resolver_.returned(call_);
    case EVENT_WAKE:
      call_.call = Call::woke;
      call_.result = head.result;
      return resolver_.returned(call_);
    case EVENT_COMPLETE:
      return requests_.completed(event_, call_);
    default:
      return builder_.lost("corrupt events");
  }
}

// The threads of a program are stopped at the same time.
void BpfTranslation::count_stop() {
  const std::uint64_t begin = std::max(call_.enter_ns, stopped_until_ns_);
  if (call_.exit_ns <= begin) return;
  stopped_ns_ += call_.exit_ns - begin;
  stopped_until_ns_ = call_.exit_ns;
}

void BpfTranslation::take_call(bool ended) {
  if (event_.head().number == SYS_io_submit) {
    return requests_.accepted(call_, event_.head().result);
  }
  switch (read_bpf_call(event_, ended, call_)) {
    case CallReading::nothing:
    case CallReading::no_path:
      return;
    case CallReading::call:
      break;
  }
  if (!ended) return resolver_.entered(call_);
  if (call_.call == Call::open && event_.real(0).there && !complete_path(call_)) {
    return builder_.lost("opens whose directory was in a lost event");
  }
  if (call_.call != Call::close) {
    mark_others(call_);
    count_replaced(call_);
  }
  resolver_.returned(call_);
}

bool BpfTranslation::complete_path(SystemCall& call) {
  if (event_.real(0).sibling) {
    const auto directory = directories_.find(call.thread);
    if (directory != directories_.end()) {
      call.result_path.insert(0, directory->second);
    } else {
      call.result_path.clear();
      if (call.path.empty()) return false;
    }
  } else if (call.result_path.empty()) {
    directories_.erase(call.thread);
  } else {
    directories_[call.thread] = call.result_path.substr(0, call.result_path.rfind('/'));
  }
  // A file without a directory, such as a pipe or memory, appears to be a root.
  if (call.result_path == "/" && call.stat && !S_ISDIR(call.stat->mode)) call.result_path.clear();
  // A file opened by handle has no other name, and other names are not always reported.
  if (call.path.empty() || event_.head().number == SYS_open_by_handle_at) {
    call.path = call.result_path;
    call.path_is_real = true;
  }
  return true;
}

void BpfTranslation::take_file() {
  if (!event_.identity()) return builder_.lost("corrupt events");
  SeenFile file{.number = event_.head().file[0],
                .path = real_path(event_.real(0)),
                .stat = seen_stat(*event_.identity()),
                .flags = open_flags::from_kernel(event_.identity()->open_flags),
                .position = event_.head().position};
  // A file without a directory, such as memory, appears to be a root.
  if (file.path == "/" && !S_ISDIR(file.stat.mode)) file.path = "/memfd:";
  resolver_.told(file);
}

void BpfTranslation::mark_others(SystemCall& call) const {
  const bpf_event& head = event_.head();
  const auto mark = [&](std::uint64_t other) {
    if (call.file == other) call.fd_path = kNoFilePath;
    if (call.file2 == other) call.fd2_path = kNoFilePath;
    if (call.dir_file == other) call.dir_path = kNoFilePath;
    if (call.dir2_file == other) call.dir2_path = kNoFilePath;
  };
  if ((head.flags & EVENT_NO_FILE) != 0) mark(head.file[0]);
  if ((head.flags & EVENT_NO_FILE_2) != 0) mark(head.file[1]);
}

// Which of two files the call used is known unless the other thread was fast.
void BpfTranslation::count_replaced(const SystemCall& call) {
  const bool is_other = call.fd_path == kNoFilePath &&
                        (call.fd2 == SystemCall::kNone || call.fd2_path == kNoFilePath);
  if ((event_.head().flags & EVENT_REPLACED) == 0 || is_other) return;
  builder_.approximated("calls whose descriptor another thread replaced meanwhile");
}

void BpfTranslation::take_exec() {
  call_.call = Call::exec;
  call_.path = event_.string(0).bytes;
  if (event_.identity()) {
    const SeenStat stat = seen_stat(*event_.identity());
    const std::string path = real_path(event_.real(0));
    if (!path.empty()) paths_[{stat.device, stat.inode, stat.generation}] = path;
  }
  resolver_.returned(call_);
}

// A started program works from the start of its exec.
void BpfTranslation::take_beginning() {
  renew(call_);
  call_.call = Call::waited;
  call_.flags = wait_flags::kForProcessor;
  call_.exit_ns = call_.enter_ns;
  resolver_.returned(call_);
}

void BpfTranslation::take_exit() {
  directories_.erase(call_.thread);
  requests_.ended(call_.thread);
  // The kernel writes it, without calls.
  constexpr std::int64_t kDumped = 0x80;
  const bool is_process = call_.thread == call_.process;
  if (is_process && (event_.head().result & kDumped) != 0 && core_dumps_are_files()) {
    builder_.lost("core dumps");
  }
  resolver_.ended(call_.thread, call_.exit_ns);
}

std::string BpfTranslation::mapped_path(const SeenStat& stat) {
  const auto known = paths_.find({stat.device, stat.inode, stat.generation});
  if (known != paths_.end()) return known->second;
  // While the process lives, /proc has the name that the file was mapped by; the kernel's event may
  // have any of the file's names.
  std::string path = surroundings_.mapped_file(call_.process, stat.device, stat.inode);
  if (path.starts_with('/') && !path.ends_with(" (deleted)")) {
    return paths_[{stat.device, stat.inode, stat.generation}] = path;
  }
  path = real_path(event_.real(0));
  if (path.empty() || !event_.real(0).partial) return path;
  auto mount = mount_points_.find(stat.device);
  if (mount == mount_points_.end()) {
    mount = mount_points_.emplace(stat.device, surroundings_.mount_point(stat.device)).first;
  }
  if (mount->second.empty()) return {};
  if (mount->second != "/") path = mount->second + path;
  return paths_[{stat.device, stat.inode, stat.generation}] = path;
}

void BpfTranslation::take_fault() {
  if (!event_.identity()) return;
  call_.call = Call::fault;
  call_.stat = seen_stat(*event_.identity());
  call_.fd_path = mapped_path(*call_.stat);
  call_.offset = event_.argument(0) * page_bytes_;
  call_.length = event_.argument(1) * page_bytes_;
  call_.flags = event_.argument(2);
  resolver_.returned(call_);
}

}  // namespace filereel
