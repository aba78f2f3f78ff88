// File system calls as any tracer sees them: strace's text and the events of the BPF recorder are
// both converted to these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// Calls that differ only in their arguments share one value: creat is open, preadv2 is read with an
// offset, unlinkat with AT_REMOVEDIR is rmdir, renameat2 is rename.
enum class Call : std::uint8_t {
  open,
  close,
  close_range,
  read,
  write,
  seek,
  truncate,
  ftruncate,
  fallocate,
  fsync,
  fdatasync,
  sync_file_range,
  syncfs,
  sync,
  stat,
  fstat,
  statfs,
  fstatfs,
  access,
  readlink,
  getdents,
  mkdir,
  rmdir,
  unlink,
  rename,
  link,
  symlink,
  mknod,
  chmod,
  fchmod,
  chown,
  fchown,
  utimens,
  futimens,
  getxattr,
  setxattr,
  listxattr,
  removexattr,  // by path, or by fd if fd is not kNone
  copy_file_range,
  sendfile,
  splice,
  clone_range,
  fadvise,
  readahead,
  flock,
  record_lock,
  mmap,
  munmap,
  mremap,
  msync,
  madvise,
  fault,
  dup,          // also fcntl(F_DUPFD…): fd is duplicated, result is the new number
  set_cloexec,  // fcntl(F_SETFD): flags != 0 sets it
  set_flags,    // fcntl(F_SETFL)
  chdir,
  fchdir,
  chroot,
  fork,  // clone, clone3, fork, vfork: result is the child, flags are CLONE_*
  exec,
  exit,
  exit_group,
  wait,            // result is the ended process
  new_descriptor,  // socket, eventfd, memfd_create …: result is not a file, flags may contain
                   // O_CLOEXEC
  new_pair,        // pipe, socketpair: fd and fd2 are not files
  submit,          // io_submit, or an entry of io_uring: one request each, see `request`
  complete,        // one request was found to be completed
  umask,
  unshare,
  unsupported,  // changes files, names or descriptors in a way that operations cannot represent
  unsupported_open,  // the same; the result is a descriptor
  unknown,           // its effect is unknown
  waited,            // not a call: the thread was off the processors between or during its calls
  woke,              // not a call: the thread woke the thread `result`
};

// In flags: one that the tracer names, but whose value is unknown.
inline constexpr std::uint64_t kUnknownFlag = std::uint64_t{1} << 63;

// An offset that could not be read.
inline constexpr std::uint64_t kUnreadableOffset = UINT64_MAX - 1;

// At the end of a tracer's path: the name has been removed. A byte that no name contains, because a
// name may well end with the kernel's " (deleted)".
inline constexpr char kRemovedMark = '\0';

// Results of a call that fills a struct stat.
struct SeenStat {
  std::uint32_t mode = 0;  // st_mode, file type included
  std::uint64_t size = 0;
  std::uint64_t device = 0, inode = 0;  // 0: unknown
  std::uint32_t generation = 0;         // of the inode
};

// An open file as the kernel sees it when a call uses it for the first time.
struct SeenFile {
  std::uint64_t number = 0;  // as SystemCall::file
  std::string path;          // as SystemCall::fd_path
  SeenStat stat;
  std::uint32_t flags = 0;     // O_*
  std::uint64_t position = 0;  // bytes
};

// Meaning of members where calls differ:
//   seek                 flags: SEEK_*, offset: as requested; result: the new position
//   read, write, submit  flags: RWF_*
//   truncate, ftruncate  offset: the new size
//   fallocate            flags: FALLOC_*; fadvise: POSIX_FADV_*; sync_file_range: SYNC_FILE_RANGE_*
//   stat, chmod, chown, utimens, access, open, link, statfs, xattr by path
//                        flags: AT_SYMLINK_NOFOLLOW (also for lstat, lchown, lgetxattr …),
//                        AT_SYMLINK_FOLLOW, AT_EMPTY_PATH
//   chown, fchown        offset: user, offset2: group; nullopt or UINT32_MAX: unchanged
//   setxattr             flags: XATTR_* too; length: bytes of the value (getxattr: of the buffer)
//   getdents             length: requested bytes
//   copy_file_range, sendfile, splice, clone_range
//                        from fd and offset to fd2 and offset2; clone_range of length 0 is FICLONE
//   flock                flags: LOCK_*
//   record_lock          flags: F_RDLCK, F_WRLCK, F_UNLCK, mode: 1 to wait (F_SETLKW);
//                        offset, length: as requested, may be negative; offset2: reference
//                        point of offset, SEEK_* (nullopt: SEEK_SET)
//   mmap                 mode: PROT_*, flags: MAP_*; fd is kNone if anonymous
//   mremap               offset: the old length, length: the new one; result: the new address
//   fault                flags: 1 for a write; either address, with length: 0 for one page, or the
//                        file: `stat` its identity and size, fd_path, offset and length in it
//   open                 stat: of the opened file, after the call
//   dup                  flags: O_CLOEXEC; close_range: fd to fd2 (negative: all), CLOSE_RANGE_*
//   umask                mode: the new one
//   waited               flags: wait_flags; result: the thread that ended it; length: ns until it
//                        was woken; mode: 1 for a page that was not in memory
//   unshare              flags: CLONE_*
struct SystemCall {
  static constexpr int kNone = -1000;  // no descriptor
  static constexpr int kCwd = -100;    // AT_FDCWD

  Call call = Call::close;
  std::string_view name;       // from the tracer's table, for counts; may be empty
  std::uint32_t thread = 0;    // the system's number (tid)
  std::uint32_t process = 0;   // its thread group; 0: unknown
  std::uint64_t enter_ns = 0;  // since the start of the trace
  std::uint64_t exit_ns = 0;
  std::int64_t result = 0;  // -errno for a failure

  int fd = kNone, fd2 = kNone;  // fd2: requested number (dup2, dup3), destination of copies
  int dir = kCwd, dir2 = kCwd;  // bases of relative paths
  std::string path, path2;  // as given by the program; path2: rename, link: the new name; symlink:
                            // path is the new name, `text` its target
  bool path_is_real = false;            // `path` is the tracer's, as result_path, not the program's
  bool path_unread = false;             // a given path or name is at an invalid address (EFAULT)
  bool unreadable = false;              // a value that matters could not be read
  std::string text;                     // symlink target, result of readlink, name of an attribute
  std::string value;                    // setxattr: of the attribute; empty: unknown
  std::string data;                     // write: the first bytes; empty: unknown
  std::uint64_t flags = 0;              // O_*, AT_*, MAP_* …; kUnknownFlag
  std::uint64_t mode = 0;               // permission bits, protection of mmap, access mode
  std::optional<std::uint64_t> offset;  // nullopt: at the open file's position
  std::optional<std::uint64_t> offset2;  // of fd2
  std::uint64_t length = 0;
  std::uint64_t address = 0;    // mmap's result is `result`; munmap, msync, mremap, fault
  std::uint64_t times[2] = {};  // utimens: as in Operation (kTimeNow …)
  bool times_moved = false;     // one of them was out of range, and is the nearest one within
  std::optional<SeenStat> stat;
  std::uint64_t entries = 0;    // getdents: number of returned entries
  std::uint64_t request = 0;    // submit, complete: identifier of the request
  std::uint64_t resolve = 0;    // open: RESOLVE_* (openat2)
  Call requested = Call::read;  // submit: read, write, fsync, fdatasync

  // The tracer's knowledge of descriptors beyond their numbers (strace -y, BPF): the absolute path
  // that `fd`, `fd2`, `dir`, or the result of an open refers to. Empty: unknown. "socket:[1]",
  // "pipe:[2]", "anon_inode:…" and paths in /dev, /proc and /sys are not files. kRemovedMark may
  // follow.
  std::string fd_path, fd2_path, dir_path, dir2_path, result_path;

  // Known only to a tracer that sees the kernel's objects. Numbers of open files are shared by dup
  // and fork and unique while the file is open; 0: unknown.
  std::uint64_t file = 0, file2 = 0, dir_file = 0, dir2_file = 0, result_file = 0;
  std::optional<std::uint64_t> position;  // read, write: position of fd's open file after the call
  std::optional<std::uint64_t> size_before;  // open: size of the existing file, before O_TRUNC
  std::optional<bool> created;               // open: whether the call created the file
};

}  // namespace filereel
