#include "traces/record/bpf/bpf_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <sys/syscall.h>

#include "traces/calls/call_order.h"
#include "traces/calls/call_table.h"
#include "traces/calls/known_calls.h"
#include "traces/calls/names.h"
#include "traces/record/bpf/compat_calls.h"
#include "traces/recorded_trace.h"

namespace filereel {
namespace {

#define NUMBERED(name)                \
  BpfCall {                           \
    FILEREEL_CALL_NUMBER(name), #name \
  }

// clang-format off
constexpr auto kOfAllProcessors = std::to_array<BpfCall>({
    NUMBERED(open), NUMBERED(openat), NUMBERED(openat2), NUMBERED(creat), NUMBERED(close),
    NUMBERED(close_range), {SYS_open_by_handle_at, "open_by_handle_at", SHAPE_OPENS},
    NUMBERED(read), NUMBERED(pread64), NUMBERED(readv), NUMBERED(preadv), NUMBERED(preadv2),
    NUMBERED(write), NUMBERED(pwrite64), NUMBERED(writev), NUMBERED(pwritev), NUMBERED(pwritev2),
    NUMBERED(lseek), NUMBERED(copy_file_range),
    // These wait for data or room while their descriptors may be replaced.
    {SYS_splice, "splice", SHAPE_NAMES}, {SYS_sendfile, "sendfile", SHAPE_NAMES},
    NUMBERED(ioctl), NUMBERED(io_submit), NUMBERED(io_getevents), NUMBERED(io_pgetevents),
    NUMBERED(io_cancel),
    NUMBERED(truncate), NUMBERED(ftruncate), NUMBERED(fallocate), NUMBERED(fsync),
    NUMBERED(fdatasync), NUMBERED(sync_file_range), NUMBERED(syncfs), NUMBERED(sync),
    NUMBERED(fadvise64), NUMBERED(readahead), NUMBERED(flock), NUMBERED(fcntl),
    NUMBERED(stat), NUMBERED(lstat), NUMBERED(fstat), NUMBERED(newfstatat), NUMBERED(statx),
    NUMBERED(statfs), NUMBERED(fstatfs), NUMBERED(access), NUMBERED(faccessat),
    NUMBERED(faccessat2), NUMBERED(readlink), NUMBERED(readlinkat), NUMBERED(getdents),
    NUMBERED(getdents64),
    NUMBERED(mkdir), NUMBERED(mkdirat), NUMBERED(rmdir), NUMBERED(unlink), NUMBERED(unlinkat),
    NUMBERED(rename), NUMBERED(renameat), NUMBERED(renameat2), NUMBERED(link), NUMBERED(linkat),
    NUMBERED(symlink), NUMBERED(symlinkat), NUMBERED(mknod), NUMBERED(mknodat), NUMBERED(bind),
    NUMBERED(chdir), NUMBERED(fchdir), NUMBERED(chroot), NUMBERED(umask),
    NUMBERED(mount), NUMBERED(move_mount), NUMBERED(umount2), NUMBERED(pivot_root),
    NUMBERED(setns), NUMBERED(acct), NUMBERED(swapon), NUMBERED(swapoff), NUMBERED(quotactl),
    NUMBERED(nfsservctl), NUMBERED(uselib), NUMBERED(remap_file_pages), NUMBERED(vmsplice),
    NUMBERED(tee),
    NUMBERED(chmod), NUMBERED(fchmod), NUMBERED(fchmodat), NUMBERED(chown), NUMBERED(lchown),
    NUMBERED(fchown), NUMBERED(fchownat),
    NUMBERED(utime), NUMBERED(utimes), NUMBERED(futimesat), NUMBERED(utimensat),
    NUMBERED(getxattr), NUMBERED(lgetxattr), NUMBERED(fgetxattr),
    NUMBERED(setxattr), NUMBERED(lsetxattr), NUMBERED(fsetxattr),
    NUMBERED(listxattr), NUMBERED(llistxattr), NUMBERED(flistxattr),
    NUMBERED(removexattr), NUMBERED(lremovexattr), NUMBERED(fremovexattr),
    NUMBERED(mmap), NUMBERED(munmap), NUMBERED(mremap), NUMBERED(msync), NUMBERED(madvise),
    NUMBERED(dup), NUMBERED(dup2), NUMBERED(dup3), NUMBERED(unshare), NUMBERED(execve),
    NUMBERED(execveat), NUMBERED(wait4), NUMBERED(waitid),
    NUMBERED(socket), NUMBERED(accept), NUMBERED(accept4), NUMBERED(eventfd), NUMBERED(eventfd2),
    NUMBERED(epoll_create), NUMBERED(epoll_create1), NUMBERED(timerfd_create),
    NUMBERED(signalfd), NUMBERED(signalfd4), NUMBERED(inotify_init), NUMBERED(inotify_init1),
    NUMBERED(fanotify_init), {SYS_memfd_create, "memfd_create", SHAPE_DUPLICATES},
    NUMBERED(pidfd_open), {SYS_pidfd_getfd, "pidfd_getfd", SHAPE_OPENS},
    NUMBERED(io_uring_setup), NUMBERED(perf_event_open), NUMBERED(userfaultfd),
    NUMBERED(mq_open), NUMBERED(pipe), NUMBERED(pipe2), NUMBERED(socketpair),
    // Newer than some headers; the same on all machines.
    {428, "open_tree"}, {430, "fsopen"}, {432, "fsmount"}, {433, "fspick"},
    {442, "mount_setattr"}, {443, "quotactl_fd"}, {444, "landlock_create_ruleset"},
    {447, "memfd_secret"}, {452, "fchmodat2"}, {463, "setxattrat"}, {464, "getxattrat"},
    {465, "listxattrat"}, {466, "removexattrat"}, {467, "open_tree_attr"},
    {469, "file_setattr"},
});
// Followed by other events of the kernel than calls.
constexpr auto kSeenOtherwise = std::to_array<BpfCall>({
    NUMBERED(fork), NUMBERED(vfork), NUMBERED(clone), {435, "clone3"}, NUMBERED(exit),
    NUMBERED(exit_group),
});
// clang-format on
#undef NUMBERED

constexpr bool is_here(const BpfCall& call) {
  return call.number != kNoNumber;
}

constexpr auto kCalls = [] {
  std::array<BpfCall, std::ranges::count_if(kOfAllProcessors, is_here)> here{};
  std::ranges::copy_if(kOfAllProcessors, here.begin(), is_here);
  return here;
}();

// Calls that only concern files; otherwise every message through a socket would be an event.
bool is_for_files_only(Call call) {
  switch (call) {
    case Call::close:
    case Call::dup:
    case Call::set_cloexec:
    case Call::set_flags:
    case Call::record_lock:  // fcntl
    case Call::clone_range:  // ioctl
    case Call::new_descriptor:
    case Call::new_pair:
    case Call::mmap:
      return false;
    default:
      return true;
  }
}

// Whether it matters to the check of a recording that another process makes the call.
bool changes_files(Call call) {
  return call == Call::open || names_an_entry(call) ||
         is_one_of(call, {Call::write, Call::truncate, Call::ftruncate, Call::fallocate,
                          Call::chmod, Call::fchmod, Call::copy_file_range, Call::sendfile,
                          Call::splice, Call::clone_range});
}

unsigned flags_of(const CallRow& row) {
  unsigned flags = changes_files(row.call) ? unsigned{SHAPE_CHANGES} : 0;
  if (row.has(Argument::descriptor) && is_for_files_only(row.call)) flags |= SHAPE_FILES_ONLY;
  if (row.has(Argument::entries)) flags |= SHAPE_LISTS;
  switch (row.call) {
    case Call::open:
      // Calls whose start CallOrder needs: of opens, only those that may create files.
      flags |= SHAPE_OPENS | (row.has(Argument::open_flags) ? SHAPE_CREATES : SHAPE_NAMES);
      break;
    case Call::flock:
    case Call::record_lock:
      flags |= SHAPE_LOCKS | SHAPE_NAMES;
      break;
    case Call::dup:
      flags |= SHAPE_DUPLICATES;
      break;
    case Call::mmap:
      flags |= SHAPE_MAPS;
      break;
    case Call::close:
      flags |= SHAPE_CLOSES;
      break;
    case Call::clone_range:
      flags |= SHAPE_CLONES;
      break;
    case Call::wait:
      flags |= SHAPE_JOINS;
      break;
    case Call::exec:
      flags |= SHAPE_EXECUTES;
      break;
    case Call::submit:
      flags |= SHAPE_SUBMITS;
      break;
    case Call::complete:
      flags |= SHAPE_REAPS;
      break;
    default:
      if (CallOrder::is_naming(row.call)) flags |= SHAPE_NAMES;
      break;
  }
  for (const CallCommand& command : row.commands) {
    if (command.call == Call::dup) flags |= SHAPE_DUPLICATES;
  }
  return flags;
}

// Size of the structure behind the pointer of an argument; 0 if it is not a structure.
std::size_t size_of(Argument role, const CallRow& row) {
  std::size_t size = 0;
  if (const Structure* structure = structure_of(role)) size = structure->size;
  if (role == Argument::commanded) {
    for (const CallCommand& command : row.commands)
      size = std::max(size, size_of(command.argument, row));
  }
  return size;
}

// `content`: with the first bytes of what the call writes.
bpf_shape shape_of(const CallRow& row, unsigned flags, bool content) {
  bpf_shape shape{};
  shape.recorded = 1;
  shape.flags = static_cast<__u16>(flags_of(row) | flags);
  std::size_t copies = 0;
  for (std::size_t i = 0; i < row.arguments.size(); ++i) {
    const auto argument = static_cast<__u8>(i + 1);
    const Argument role = row.arguments[i];
    switch (role) {
      case Argument::descriptor:
        shape.file[0] = argument;
        break;
      case Argument::descriptor2:
        // The number requested of dup2 is not an open file yet.
        if (row.call != Call::dup) shape.file[1] = argument;
        break;
      case Argument::directory:
        shape.dir[0] = argument;
        break;
      case Argument::directory2:
        shape.dir[1] = argument;
        break;
      case Argument::path:
        shape.string[0] = argument;
        break;
      case Argument::path2:
        shape.string[1] = argument;
        break;
      case Argument::text:
        shape.string[2] = argument;
        break;
      case Argument::buffers:
        shape.vector = argument;
        if (content && row.call == Call::write) shape.copy_size[0] = RecordedOperation::kMostData;
        break;
      case Argument::data:
        if (content) {
          shape.copy[0] = argument;
          shape.copy_size[0] = RecordedOperation::kMostData;
        }
        break;
      case Argument::link_text:
        shape.buffer = argument;
        break;
      case Argument::open_flags:
        shape.open_flags = argument;
        break;
      case Argument::value:
      case Argument::socket_name:
        shape.value = argument;
        break;
      default:
        if (const std::size_t size = size_of(role, row); size > 0) {
          shape.copy[copies] = argument;
          shape.copy_size[copies++] = static_cast<__u8>(size);
        }
        break;
    }
  }
  return shape;
}

// Calls that are in no table: newer ones than this program. They are counted.
struct UnknownCalls {
  std::array<std::string, SHAPES> names;
  std::array<CallRow, SHAPES> rows;
  std::array<bool, SHAPES> exist{};

  UnknownCalls() {
    exist.fill(true);
    const auto is_known = [&](long number) {
      if (number != kNoNumber) exist[static_cast<std::size_t>(number)] = false;
    };
    for (const BpfCall& call : kCalls) is_known(call.number);
    for (const BpfCall& call : kSeenOtherwise) is_known(call.number);
    for (const HarmlessCall& call : harmless_calls()) is_known(call.number);
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] = fmt::format("syscall_{}", i);
      rows[i] = {.name = names[i], .call = Call::unknown};
    }
  }
};

const UnknownCalls& unknown_calls() {
  static const UnknownCalls kUnknown;
  return kUnknown;
}

}  // namespace

std::span<const BpfCall> bpf_calls() {
  return kCalls;
}

const CallRow* bpf_call_row(std::uint32_t number) {
  static const auto kRows = [] {
    std::array<const CallRow*, SHAPES> rows{};
    for (const BpfCall& call : kCalls) {
      rows[static_cast<std::size_t>(call.number)] = find_call(call.name);
    }
    const UnknownCalls& unknown = unknown_calls();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (unknown.exist[i]) rows[i] = &unknown.rows[i];
    }
    return rows;
  }();
  return number < SHAPES ? kRows[number] : nullptr;
}

std::string_view event_name(std::uint32_t kind, std::uint32_t number) {
  constexpr std::array<std::string_view, EVENT_KINDS> kKinds = {"calls",
                                                                "call starts",
                                                                "forks",
                                                                "execs",
                                                                "exits",
                                                                "faults",
                                                                "requests",
                                                                "request completions",
                                                                "waits",
                                                                "wakes",
                                                                "names of open files",
                                                                "changes by other processes"};
  const CallRow* row = kind == EVENT_CALL ? bpf_call_row(number) : nullptr;
  return row ? row->name : kKinds[kind % EVENT_KINDS];
}

void set_shapes(std::span<bpf_shape, SHAPES> shapes, bool content) {
  for (const BpfCall& call : kCalls) {
    const auto number = static_cast<std::uint32_t>(call.number);
    if (const CallRow* row = bpf_call_row(number))
      shapes[number] = shape_of(*row, call.flags, content);
  }
  const UnknownCalls& unknown = unknown_calls();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (unknown.exist[i]) shapes[i] = shape_of(unknown.rows[i], 0, false);
  }
}

void set_compat_shapes(std::span<bpf_shape, SHAPES> shapes) {
  for (const CompatCall& call : compat_calls()) {
    if (const CallRow* row = find_call(call.name)) shapes[call.number] = shape_of(*row, 0, false);
  }
}

}  // namespace filereel
