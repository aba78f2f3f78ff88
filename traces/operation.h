// How this folder works: an Operation is one action on files, with everything by number: paths are
// in a PathTable, texts in a TextTable (path_table.h). A workload passes Operations to the engine
// through an OperationSource (operation_source.h). A recorded trace has a RecordedOperation for
// each, with times, and its metadata in TraceInfo (recorded_trace.h). Everything else of this layer
// makes, stores or changes such sequences. Start with Operation here and the table in operation.cc.
//
// The operation model: one action on files. Workloads, reels and importers produce operations; the
// engine executes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "traces/path_table.h"

namespace filereel {

// The values are the codes in reel files (docs/reel-format.md). Never change one; only add new
// ones. The table behind operation_info describes each kind and the members of Operation that it
// uses.
enum class OperationKind : std::uint8_t {
  make_directory = 0,
  remove_directory = 1,
  open = 2,
  close = 3,
  read = 4,
  write = 5,
  truncate = 6,
  copy_range = 7,
  unlink = 8,
  symlink = 9,
  link = 10,
  barrier = 11,
  rename = 12,
  make_node = 13,
  allocate = 14,
  sync = 15,
  sync_data = 16,
  sync_range = 17,
  sync_volume = 18,
  stat = 19,
  stat_volume = 20,
  access = 21,
  read_link = 22,
  list = 23,
  seek = 24,
  change_mode = 25,
  change_owner = 26,
  set_times = 27,
  get_xattr = 28,
  set_xattr = 29,
  list_xattr = 30,
  remove_xattr = 31,
  advise = 32,
  read_ahead = 33,
  lock = 34,
  map = 35,
  unmap = 36,
  sync_map = 37,
  fault = 38,
  change_directory = 39,
  set_flags = 40,
  fork = 41,
  execute = 42,
  join = 43,
  exit = 44,
  reap = 45,
  await = 46,
  pace = 47,
  wait = 48,
  wake = 49,
};
inline constexpr std::size_t kOperationKinds = 50;

// The members of Operation that a kind uses. Unused members keep their default values.
enum class Field : std::uint16_t {
  none = 0,
  path = 1 << 0,
  old_path = 1 << 1,
  file = 1 << 2,    // an open file
  target = 1 << 3,  // `file`, or `path` if file is kNoFile
  source = 1 << 4,
  flags = 1 << 5,
  mode = 1 << 6,
  offset = 1 << 7,
  length = 1 << 8,
  second = 1 << 9,
  text = 1 << 10,
  method = 1 << 11,
};
constexpr Field operator|(Field a, Field b) {
  return static_cast<Field>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(Field set, Field field) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(field)) != 0;
}

// How closely the result of a replay must match the trace.
enum class Comparison : std::uint8_t {
  exact,    // same number, same error
  success,  // same error, or any success: sizes of lists differ between file systems
  nothing,  // advice and bookkeeping
};

struct OperationInfo {
  std::string_view name;  // in reports, dumps and result files
  Field fields;
  Comparison comparison;
  bool moves_data;  // the result is a number of bytes of content
  bool is_call;     // false: orders the replay, does not touch files
};

// Name and properties of a kind.
const OperationInfo& operation_info(OperationKind kind);

// Whether `second` is a thread of the trace.
constexpr bool names_thread(OperationKind kind) {
  using enum OperationKind;
  return kind == fork || kind == join || kind == wait || kind == wake;
}

// Whether a replay repeats what took the duration of an operation. Otherwise it is work of the
// program: the start of a program, the creation of a thread. Page faults have no duration.
constexpr bool is_timed(OperationKind kind) {
  using enum OperationKind;
  return kind != fork && kind != execute && kind != exit && kind != fault && kind != wake;
}

// Whether it changes files or names. So may `open`, which can create a file, and a `fault`: only
// `sync_map` tells that the program has stored something.
constexpr bool is_change(OperationKind kind) {
  using enum OperationKind;
  switch (kind) {
    case make_directory:
    case remove_directory:
    case write:
    case truncate:
    case copy_range:
    case unlink:
    case symlink:
    case link:
    case rename:
    case make_node:
    case allocate:
    case change_mode:
    case change_owner:
    case set_times:
    case set_xattr:
    case remove_xattr:
    case sync_map:
      return true;
    default:
      return false;
  }
}

// Finds the kind with this name; false if unknown.
bool find_operation_kind(std::string_view name, OperationKind& kind);

// Source of the bytes of a write.
enum class DataSource : std::uint8_t {
  generated,  // derived from `entry` and the offset (replay/engine/content_buffer.h)
  last_read,  // the thread's buffer after its last read: a copy by read and write
};

// How copy_range moves bytes. `readwrite` copies are read and write operations.
enum class CopyMethod : std::uint8_t { readwrite, copy_file_range, reflink, sendfile, splice };

std::string_view copy_method_name(CopyMethod method);

// Throws Error(usage) that lists the known methods.
CopyMethod parse_copy_method(std::string_view name);

// An open file, not a descriptor number. Can be reused after `close`. Local to a thread in
// workloads, shared by all threads in recorded traces. Mappings are numbered separately.
using FileSlot = std::uint32_t;
inline constexpr FileSlot kNoFile = UINT32_MAX;

// A file, independent of its names: hard links share it, and it survives renaming. In workloads,
// the number of its entry in the file set. In recorded traces, counted from 0 in order of
// appearance.
using FileId = std::uint32_t;
inline constexpr FileId kNoFileId = UINT32_MAX;

// The most bytes that Linux moves in one call, whatever the requested length: whole pages below 2
// GiB.
inline constexpr std::uint64_t kMaxTransfer = 0x7ffff000;

// Times of set_times.
inline constexpr std::uint64_t kTimeNow = UINT64_MAX;
inline constexpr std::uint64_t kTimeOmit = UINT64_MAX - 1;

// Flags of `lock`.
namespace lock_flags {
inline constexpr std::uint32_t kShared = 1, kExclusive = 2, kUnlock = 4;  // one of these
inline constexpr std::uint32_t kRecord = 8;  // a range (fcntl), otherwise the whole file (flock)
inline constexpr std::uint32_t kWait = 16;
}  // namespace lock_flags

// Flags of `wait`: why a thread did not run between two operations.
namespace wait_flags {
inline constexpr std::uint32_t kForThread = 0;     // another thread of the trace woke it
inline constexpr std::uint32_t kForOutside = 1;    // a timer or a program outside of the trace did
inline constexpr std::uint32_t kForProcessor = 2;  // it was ready, but others used the processors
inline constexpr std::uint32_t kForRecorder = 3;  // of its work so far, `length` was the recorder's
}  // namespace wait_flags

// Flags of `pace`: what its time is.
namespace pace_flags {
inline constexpr std::uint32_t kFromStart = 0;    // an earliest start, from the start of the replay
inline constexpr std::uint32_t kFromLastEnd = 1;  // a pause since the lane's last operation
inline constexpr std::uint32_t kFromNow = 2;      // a pause from when the lane reaches it
inline constexpr std::uint32_t kWork = 3;         // processor time of the lane
inline constexpr std::uint32_t kFirstWork = 4;    // the same, of a thread that begins here
}  // namespace pace_flags

// clang-format off
//
// Flags and modes are those of Linux on x86-64. In the list, "target" is `file` or, if that is
// kNoFile, `path`. A `path` that is a symbolic link is not followed: the producer of the trace
// resolves links.
//
//   make_directory    path, mode
//   remove_directory  path
//   open              path, file, flags, mode; entry. With O_TMPFILE path is the directory.
//   close             file
//   read, write       file, offset, length
//   truncate          target, offset: the new size
//   copy_range        file (destination), source, offset, second: the source's offset, length,
//                     method
//   unlink            path
//   symlink           path, text
//   link              path: the new name; target: file, or old_path where file is kNoFile
//   barrier           all threads meet (workloads only)
//   rename            old_path, path, flags: RENAME_*
//   make_node         path, mode; never executed
//   allocate          file, flags: FALLOC_*, offset, length
//   sync, sync_data   file
//   sync_range        file, flags, offset, length
//   sync_volume       file or kNoFile
//   stat              target; mode and length: as recorded (st_mode, st_size), or 0
//   stat_volume       target
//   access            path, mode: R_OK …
//   read_link         path; text: the recorded target
//   list              file, length: requested bytes; offset: 0 from the start, otherwise continued
//   seek              file, flags: SEEK_DATA or SEEK_HOLE, offset
//   change_mode       target, mode
//   change_owner      target, offset: user, second: group; executed only on request
//   set_times         target, offset: access time, second: modification time (ns since 1970, two's
//                     complement), kTimeNow, kTimeOmit
//   get_xattr         target, text: its name, length: bytes of the buffer
//   set_xattr         target, text: its name, length: bytes of the value, flags: XATTR_*
//   list_xattr        target, length: bytes of the buffer
//   remove_xattr      target, text: its name
//   advise            file, flags: POSIX_FADV_*, offset, length
//   read_ahead        file, offset, length
//   lock              file, flags: lock_flags, offset, length
//   map               file, source: the mapping, flags: PROT_* | MAP_* << 8, offset, length
//   unmap             source: the mapping
//   sync_map          source, flags: MS_*, offset (in the mapping), length
//   fault             source, flags: 1 for a write, offset (in the mapping), length
//   change_directory  path
//   set_flags         file, flags: O_* that fcntl(F_SETFL) sets
//   fork              second: number of the started thread
//   execute           path
//   join              second: the ended thread
//   exit              the thread ends
//   reap              length: limit on this thread's asynchronous requests in flight afterwards
//   wait              flags: wait_flags; second: the thread that ended the wait, or its own; length:
//                     ns from its start until the thread was woken
//   wake              second: the thread that can continue its `wait`
//   await             second: wait until lane `source` has done this many operations (schedules only)
//   pace              offset: earliest start, ns; flags: pace_flags (schedules only)
//
// clang-format on
struct Operation {
  OperationKind kind = OperationKind::barrier;
  DataSource data = DataSource::generated;
  CopyMethod method = CopyMethod::readwrite;
  bool counts_file = false;   // a regular file is done after this operation
  bool asynchronous = false;  // submitted without waiting for completion; see reap
  bool loose = false;         // the result depends on facts missing from the trace: not compared
  bool hole = false;          // read: the range is not entirely known to be written data
  std::uint32_t flags = 0;
  std::uint32_t mode = 0;
  FileSlot file = kNoFile;
  FileSlot source = kNoFile;
  PathId path = 0;
  PathId old_path = 0;
  FileId entry = kNoFileId;  // open, operations on an open file or on the path of a file
  TextId text = 0;
  std::uint32_t thread = 0;  // of the trace
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // read, write: requested length
  std::uint64_t second = 0;
  // The expected result: bytes for data, 0 for other calls that succeed, -errno for calls that
  // failed when recorded.
  std::int64_t expected = 0;
  std::uint64_t position = 0;  // in the trace, from 0
};

}  // namespace filereel
