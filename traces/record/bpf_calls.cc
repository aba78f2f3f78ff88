#include "traces/record/bpf_calls.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/syscall.h>

#include "traces/calls/call_order.h"
#include "traces/import/strace_calls.h"
#include "traces/record/bpf_finish.h"
#include "traces/record/compat_calls.h"

namespace filereel {
namespace {

using namespace bpf_finish;

constexpr BpfCall::Copy copied(unsigned argument, unsigned bytes) {
  return {static_cast<std::uint8_t>(argument), static_cast<std::uint8_t>(bytes)};
}

constexpr BpfCall not_followed(long number, std::string_view name) {
  return {number, name, nullptr, {}, 0, {}, false};
}

// Younger than some headers; the same for all machines.
constexpr long kMemfdSecret = 447, kFchmodat2 = 452, kSetxattrat = 463, kGetxattrat = 464,
               kListxattrat = 465, kRemovexattrat = 466;

// clang-format off
constexpr auto kCalls = std::to_array<BpfCall>({
    {SYS_open, "open"}, {SYS_openat, "openat"}, {SYS_creat, "creat"},
    {SYS_openat2, "openat2", open_how, copied(3, 24)},
    {SYS_open_by_handle_at, "open_by_handle_at", by_handle},
    {SYS_close, "close"}, {SYS_close_range, "close_range", range_of_descriptors},
    {SYS_read, "read"}, {SYS_pread64, "pread64"}, {SYS_readv, "readv"}, {SYS_preadv, "preadv"},
    {SYS_preadv2, "preadv2", perhaps_positional, {}, 0, "fv-o-g"},
    {SYS_write, "write"}, {SYS_pwrite64, "pwrite64"}, {SYS_writev, "writev"},
    {SYS_pwritev, "pwritev"},
    {SYS_pwritev2, "pwritev2", perhaps_positional, {}, 0, "fv-o-g"},
    {SYS_lseek, "lseek"},
    {SYS_copy_file_range, "copy_file_range", two_offsets}, {SYS_splice, "splice", two_offsets},
    {SYS_sendfile, "sendfile", one_offset, copied(3, 8)},
    {SYS_ioctl, "ioctl", ioctl, copied(3, 32)},
    {SYS_io_submit, "io_submit"}, {SYS_io_getevents, "io_getevents"},
    {SYS_io_pgetevents, "io_pgetevents"}, not_followed(SYS_io_cancel, "io_cancel"),
    {SYS_truncate, "truncate"}, {SYS_ftruncate, "ftruncate"}, {SYS_fallocate, "fallocate"},
    {SYS_fsync, "fsync"}, {SYS_fdatasync, "fdatasync"}, {SYS_sync_file_range, "sync_file_range"},
    {SYS_syncfs, "syncfs"}, {SYS_sync, "sync"}, {SYS_fadvise64, "fadvise64"},
    {SYS_readahead, "readahead"}, {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl", fcntl, copied(3, 32)},
    {SYS_stat, "stat", stat, copied(2, 56)}, {SYS_lstat, "lstat", stat, copied(2, 56)},
    {SYS_fstat, "fstat", stat, copied(2, 56)},
    {SYS_newfstatat, "newfstatat", stat_at, copied(3, 56)},
    {SYS_statx, "statx", statx, copied(5, 144)},
    {SYS_statfs, "statfs"}, {SYS_fstatfs, "fstatfs"}, {SYS_access, "access"},
    {SYS_faccessat, "faccessat"}, {SYS_faccessat2, "faccessat2"},
    {SYS_readlink, "readlink", read_link, {}, 2},
    {SYS_readlinkat, "readlinkat", read_link, {}, 3},
    {SYS_getdents, "getdents", list}, {SYS_getdents64, "getdents64", list},
    {SYS_mkdir, "mkdir"}, {SYS_mkdirat, "mkdirat"}, {SYS_rmdir, "rmdir"},
    {SYS_unlink, "unlink"}, {SYS_unlinkat, "unlinkat", unlink_at},
    {SYS_rename, "rename"}, {SYS_renameat, "renameat"}, {SYS_renameat2, "renameat2"},
    {SYS_link, "link"}, {SYS_linkat, "linkat"},
    {SYS_symlink, "symlink"}, {SYS_symlinkat, "symlinkat"},
    {SYS_mknod, "mknod"}, {SYS_mknodat, "mknodat"},
    {SYS_chdir, "chdir"}, {SYS_fchdir, "fchdir"}, {SYS_chroot, "chroot"}, {SYS_umask, "umask"},
    not_followed(SYS_mount, "mount"), not_followed(SYS_move_mount, "move_mount"),
    not_followed(SYS_umount2, "umount2"), not_followed(SYS_pivot_root, "pivot_root"),
    not_followed(SYS_setns, "setns"),
    {SYS_chmod, "chmod"}, {SYS_fchmod, "fchmod"}, {SYS_fchmodat, "fchmodat"},
    {kFchmodat2, "fchmodat2", mode_at},
    {SYS_chown, "chown"}, {SYS_lchown, "lchown"}, {SYS_fchown, "fchown"},
    {SYS_fchownat, "fchownat", owner_at},
    {SYS_utime, "utime", times_utime, copied(2, 16)},
    {SYS_utimes, "utimes", times_utimes, copied(2, 32)},
    {SYS_futimesat, "futimesat", times_utimes, copied(3, 32)},
    {SYS_utimensat, "utimensat", times_utimensat, copied(3, 32)},
    {SYS_getxattr, "getxattr"}, {SYS_lgetxattr, "lgetxattr"}, {SYS_fgetxattr, "fgetxattr"},
    {SYS_setxattr, "setxattr"}, {SYS_lsetxattr, "lsetxattr"}, {SYS_fsetxattr, "fsetxattr"},
    {SYS_listxattr, "listxattr"}, {SYS_llistxattr, "llistxattr"},
    {SYS_flistxattr, "flistxattr"},
    {SYS_removexattr, "removexattr"}, {SYS_lremovexattr, "lremovexattr"},
    {SYS_fremovexattr, "fremovexattr"},
    not_followed(kSetxattrat, "setxattrat"), not_followed(kGetxattrat, "getxattrat"),
    not_followed(kListxattrat, "listxattrat"), not_followed(kRemovexattrat, "removexattrat"),
    {SYS_mmap, "mmap", map}, {SYS_munmap, "munmap"}, {SYS_mremap, "mremap"},
    {SYS_msync, "msync"}, {SYS_madvise, "madvise"},
    {SYS_dup, "dup"}, {SYS_dup2, "dup2"}, {SYS_dup3, "dup3"},
    {SYS_unshare, "unshare", unshared}, {SYS_execve, "execve"}, {SYS_execveat, "execveat"},
    {SYS_wait4, "wait4", waited}, {SYS_waitid, "waitid", waited_id, copied(3, 32)},
    {SYS_socket, "socket"}, {SYS_accept, "accept"}, {SYS_accept4, "accept4"},
    {SYS_eventfd, "eventfd"}, {SYS_eventfd2, "eventfd2"},
    {SYS_epoll_create, "epoll_create"}, {SYS_epoll_create1, "epoll_create1"},
    {SYS_timerfd_create, "timerfd_create"},
    {SYS_signalfd, "signalfd", changed_signals}, {SYS_signalfd4, "signalfd4", changed_signals},
    {SYS_inotify_init, "inotify_init"}, {SYS_inotify_init1, "inotify_init1"},
    {SYS_fanotify_init, "fanotify_init"}, {SYS_memfd_create, "memfd_create", memory_file},
    {kMemfdSecret, "memfd_secret"},
    {SYS_pidfd_open, "pidfd_open"}, {SYS_pidfd_getfd, "pidfd_getfd", handed_over},
    {SYS_io_uring_setup, "io_uring_setup"}, {SYS_perf_event_open, "perf_event_open", performance},
    {SYS_userfaultfd, "userfaultfd"}, {SYS_mq_open, "mq_open"},
    {SYS_pipe, "pipe", pair, copied(1, 8)}, {SYS_pipe2, "pipe2", pair, copied(1, 8)},
    {SYS_socketpair, "socketpair", pair, copied(4, 8)},
});
// clang-format on

// Only files can be meant; else every message through a socket would be an event.
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

// Calls whose begin CallOrder asks for; of opens only those that may create.
bool begins_matter(Call call) {
  return (CallOrder::is_naming(call) && call != Call::open) || call == Call::flock ||
         call == Call::record_lock;
}

std::uint16_t flags_of(const BpfCall& call, const StraceCall& row) {
  if (!call.followed) return 0;
  unsigned flags = 0;
  const std::string_view letters = call.letters.empty() ? row.arguments : call.letters;
  if (letters.contains('f') && is_for_files_only(row.call)) flags |= SHAPE_FILES_ONLY;
  if (begins_matter(row.call)) flags |= SHAPE_NAMES;
  if (row.call == Call::open) flags |= SHAPE_OPENS;
  if (row.call == Call::open && letters.contains('g')) flags |= SHAPE_CREATES;
  switch (call.number) {
    case SYS_creat:
    case SYS_openat2:
      flags |= SHAPE_NAMES;
      break;
    case SYS_open_by_handle_at:
    case SYS_pidfd_getfd:
      flags |= SHAPE_OPENS;
      break;
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_fcntl:
    case SYS_memfd_create:
      flags |= SHAPE_DUPLICATES;
      break;
    case SYS_getdents:
    case SYS_getdents64:
      flags |= SHAPE_LISTS;
      break;
    case SYS_mmap:
      flags |= SHAPE_MAPS;
      break;
    case SYS_io_submit:
      flags |= SHAPE_SUBMITS;
      break;
    case SYS_io_getevents:
    case SYS_io_pgetevents:
      flags |= SHAPE_REAPS;
      break;
    default:
      break;
  }
  if (call.number == SYS_flock || call.number == SYS_fcntl) flags |= SHAPE_LOCKS;
  return static_cast<std::uint16_t>(flags);
}

bpf_shape shape_of(const BpfCall& call, const StraceCall& row) {
  bpf_shape shape{};
  shape.recorded = 1;
  shape.flags = flags_of(call, row);
  const std::string_view letters = call.letters.empty() ? row.arguments : call.letters;
  std::size_t copies = 0;
  const auto copy = [&](std::size_t argument, std::size_t bytes) {
    shape.copy[copies] = static_cast<__u8>(argument);
    shape.copy_size[copies++] = static_cast<__u8>(bytes);
  };
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto argument = static_cast<__u8>(i + 1);
    switch (letters[i]) {
      case 'f':
        shape.file[0] = argument;
        break;
      case 'F':
        // The wish of dup2 is no open file yet.
        if (row.call != Call::dup) shape.file[1] = argument;
        break;
      case 'd':
        shape.dir[0] = argument;
        break;
      case 'D':
        shape.dir[1] = argument;
        break;
      case 'p':
        shape.string[0] = argument;
        break;
      case 'P':
        shape.string[1] = argument;
        break;
      case 't':
        shape.string[2] = argument;
        break;
      case 'v':
        shape.vector = argument;
        break;
      case 'g':
        shape.open_flags = argument;
        break;
      case 'i':
      case 'I':
        if (call.copy.argument == 0) copy(argument, sizeof(std::uint64_t));
        break;
      default:
        break;
    }
  }
  if (call.copy.argument != 0) copy(call.copy.argument, call.copy.bytes);
  shape.buffer = call.buffer;
  return shape;
}

struct Known {
  const BpfCall* call = nullptr;
  const StraceCall* row = nullptr;
};

std::array<Known, SHAPES> make_known() {
  std::array<Known, SHAPES> known;
  for (const BpfCall& call : kCalls) {
    known[static_cast<std::size_t>(call.number)] = {&call, find_strace_call(call.name)};
  }
  return known;
}

const Known& find_known(std::size_t number) {
  static const std::array<Known, SHAPES> kKnown = make_known();
  return kKnown[number % SHAPES];
}

void fill(const BpfEventView& event, char letter, std::size_t i, SystemCall& call) {
  switch (letter) {
    case 'f':
      call.fd = event.descriptor(i);
      break;
    case 'F':
      call.fd2 = event.descriptor(i);
      break;
    case 'd':
      call.dir = event.descriptor(i);
      break;
    case 'D':
      call.dir2 = event.descriptor(i);
      break;
    case 'p':
      call.path = event.string(0).bytes;
      break;
    case 'P':
      call.path2 = event.string(1).bytes;
      break;
    case 't':
      call.text = event.string(2).bytes;
      break;
    case 'g':
      call.flags |= event.argument(i) & UINT32_MAX;
      break;
    case 'm':
      call.mode = event.argument(i) & UINT32_MAX;
      break;
    case 'o':
      call.offset = event.argument(i);
      break;
    case 'O':
      call.offset2 = event.argument(i);
      break;
    case 'l':
      call.length = event.argument(i);
      break;
    case 'v':
      call.length = event.head().extra;
      break;
    case 'a':
      call.address = event.argument(i);
      break;
    default:
      break;
  }
}

// A path that the program gave could not be read. Of what was opened the real path may do.
bool lacks_path(const BpfEventView& event, const SystemCall& call, std::string_view letters) {
  if (call.call == Call::open && event.real(0).sibling) return false;
  // No path names the descriptor itself.
  const bool may_lack =
      call.call == Call::utimens || (call.call == Call::stat && (call.flags & AT_EMPTY_PATH) != 0);
  if (may_lack && event.argument(1) == 0) return false;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::size_t which = letters[i] == 'p' ? 0 : letters[i] == 'P' ? 1 : 2;
    if ((which < 2 || letters[i] == 't') && !event.string(which).there) return true;
  }
  return false;
}

void describe_opened(const BpfEventView& event, SystemCall& call) {
  constexpr std::uint32_t kCreated = 0x100000;  // FMODE_CREATED
  if (call.call != Call::open && call.call != Call::dup) return;
  call.result_file = event.head().extra;
  call.result_path = real_path(event.real(0));
  if (!event.identity()) return;
  call.stat = seen_stat(*event.identity());
  call.created = (event.identity()->open_mode & kCreated) != 0;
  if (event.head().flags & EVENT_TRUNCATED) call.size_before = event.head().position;
}

}  // namespace

std::span<const BpfCall> bpf_calls() {
  return kCalls;
}

std::string_view event_name(std::uint32_t kind, std::uint32_t number) {
  constexpr std::array<std::string_view, EVENT_KINDS> kKinds = {
      "calls", "begins of calls", "forks",    "execs",
      "exits", "faults",          "requests", "ends of requests"};
  const BpfCall* call = kind == EVENT_CALL ? find_known(number).call : nullptr;
  return call ? call->name : kKinds[kind % EVENT_KINDS];
}

void set_shapes(std::span<bpf_shape, SHAPES> shapes) {
  for (const BpfCall& call : kCalls) {
    const StraceCall* row = find_strace_call(call.name);
    if (row) shapes[static_cast<std::size_t>(call.number)] = shape_of(call, *row);
  }
}

void set_compat_shapes(std::span<bpf_shape, SHAPES> shapes) {
  for (const CompatCall& call : compat_calls()) {
    const StraceCall* row = find_strace_call(call.name);
    if (row) shapes[call.number] = shape_of({call.number, call.name}, *row);
  }
}

BpfReading read_bpf_call(const BpfEventView& event, bool ended, SystemCall& call) {
  const Known& known = find_known(event.head().number);
  if (!known.row) return BpfReading::nothing;
  if (!known.call->followed) {
    return ended && event.head().result >= 0 ? BpfReading::not_followed : BpfReading::nothing;
  }
  const std::string_view letters =
      known.call->letters.empty() ? known.row->arguments : known.call->letters;
  call.call = known.row->call;
  call.name = known.call->name;
  call.flags = known.row->flags;
  for (std::size_t i = 0; i < letters.size() && i < 6; ++i) fill(event, letters[i], i, call);
  call.result = ended ? event.head().result : 0;
  // What fails for its pointer is counted with the others of its kind, also without its path.
  if (lacks_path(event, call, letters)) {
    if (call.result != -EFAULT) return BpfReading::nothing;
    call.path_unread = true;
  }
  const bool begins_at = letters.contains('d');
  (begins_at ? call.dir_file : call.file) = event.head().file[0];
  (letters.contains('D') ? call.dir2_file : call.file2) = event.head().file[1];
  if (event.real(1).there) {
    const std::string directory = real_path(event.real(1));
    if (call.dir == SystemCall::kCwd) call.dir_path = directory;
    if (call.dir2 == SystemCall::kCwd) call.dir2_path = directory;
  }
  if (ended && (call.call == Call::read || call.call == Call::write) && call.file != 0) {
    call.position = event.head().position;
  }
  if (ended && call.result >= 0) describe_opened(event, call);
  const bool about_files = !known.call->finish || known.call->finish(event, call);
  return about_files ? BpfReading::call : BpfReading::nothing;
}

}  // namespace filereel
