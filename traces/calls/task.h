// A process that is recorded: its descriptors, mappings and threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "traces/calls/system_call.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// Which file a descriptor is, is the most important question to a trace: with a wrong answer,
// writes go to another file. The number alone does not tell. It is reused at once after a close,
// dup and fork share one open file between numbers and processes, files arrive by sockets and from
// before the trace, and calls that overlap a close arrive in another order than they took effect.
//
// So three things are kept apart. A Description is the open file, with its offset and its slot in
// the trace. A DescriptorTable maps the numbers of a process, or of tasks that share the table, to
// Descriptions. FileNumbers maps the kernel's own numbers of open files to them, if the tracer sees
// these (BPF): they are right even if calls were missed. OpenFiles::find in open_files.cc decides,
// in this order: what the descriptor referred to when the call started, the kernel's number, the
// table.
//
// Invariants:
// - A file stays open in the trace as long as anything refers to its Description: a table, a call
//   in flight (CallStart) or a request (hold). So a reference that leaves a table goes to
//   OpenFiles::drop, which writes the close when it is the last one. A reference kept elsewhere
//   would delay the close. FileNumbers has weak references, which keep nothing open.
// - The kernel frees a number before close returns, so that another thread may get it first. The
//   trace then sees the assignment before the close. OpenFiles::put, for a number in use, therefore
//   announces a late close (expect_close), and a close that started before that moment takes
//   nothing (is_late_close).
// - The number in FileNumbers and the member of the Description change together.
//
// All of this belongs to the thread that calls CallResolver.

// An open file: the object that dup and fork share.
struct Description : std::enable_shared_from_this<Description> {
  FileSlot slot = kNoFile;   // kNoFile: open since before the trace and not used yet
  std::uint64_t number = 0;  // the kernel's number while it is open; see FileNumbers
  PathId path = 0;           // follows renames of the directories above it
  std::uint32_t flags = 0;   // O_*
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;  // directories: number of entries listed since the start
  bool directory = false;
  bool inherited = false;            // open since before the trace: flags and offset are guesses
  bool flags_known = false;          // flags are not a guess
  std::optional<SeenStat> seen;      // status at the start of the trace, if known
  std::optional<SeenStat> identity;  // device and inode, if known
  std::uint64_t size_before = 0;     // size at that time, until the trace appends to the file
  bool position_used = false;
  bool position_guessed = false;  // and used: reads may be from another part of the file
  // The open file whose slot this one uses, with its own position: the file has no name to open it
  // by.
  std::shared_ptr<Description> opened_before;
};
using DescriptionRef = std::shared_ptr<Description>;

struct DescriptorEntry {
  DescriptionRef description;  // null: not a file
  bool close_on_exec = false;
  std::uint64_t since_ns = 0;  // when the number was assigned
  bool is_lost = false;        // from an unsupported call: what it refers to is unknown
};

// Maps numbers to open files. Shared by tasks cloned with CLONE_FILES.
class DescriptorTable {
 public:
  // Null if the number is not known to be open.
  DescriptorEntry* find(int number) {
    const auto found = open_.find(number);
    return found == open_.end() ? nullptr : &found->second;
  }

  // Puts `descriptor` at `number` (not negative) and returns the previous file.
  DescriptionRef put(int number, DescriptorEntry descriptor);

  // Removes `number`; null if it was not open.
  DescriptionRef take(int number);

  // A close of `number` has not returned yet, but the number was reassigned by `at_ns`.
  void expect_close(int number, std::uint64_t at_ns);
  // Whether a close that started at `began_ns` is one of those: the current file stays open.
  bool is_late_close(int number, std::uint64_t began_ns);

  // Removes all numbers from `first` to `last`, in order.
  std::vector<DescriptionRef> take_range(int first, int last);
  std::vector<DescriptionRef> take_close_on_exec();
  void set_close_on_exec(int first, int last);

  // Files that the process holds open without a number, for io_uring. Returns the file that lost
  // its place because the kernel gave its number to `file`.
  DescriptionRef hold(const DescriptionRef& file);
  std::vector<DescriptionRef> take_held();
  // All open files, including those without a number.
  std::vector<DescriptionRef> take_all();

  // Adds the entries of `other` whose numbers are free here.
  void add_missing(const DescriptorTable& other);

  // Calls `visit` with every open file.
  template <typename Visit>
  void each(Visit visit) {
    for (auto& [number, descriptor] : open_) {
      if (descriptor.description) visit(*descriptor.description);
    }
    for (auto& [number, file] : held_) visit(*file);
  }

 private:
  std::map<int, DescriptorEntry> open_;
  std::map<std::uint64_t, DescriptionRef> held_;  // by the kernel's number
  // By number: latest start times of outstanding closes, in order.
  std::map<int, std::vector<std::uint64_t>> late_closes_;
};

// Open files by their kernel numbers. A number belongs to its file while the file is open in any
// process; then it is reused. Number 0 is never assigned. Does not keep files open.
class FileNumbers {
 public:
  // Null if the number is unknown.
  DescriptionRef find(std::uint64_t number);

  // Assigns `number` to `file` (null: to something that is not a file). A previous owner whose
  // close the trace has not seen loses the number.
  void bind(std::uint64_t number, const DescriptionRef& file);

  // `file` is closed.
  void forget(Description& file);

  // Calls `visit` with every open file that has a number.
  template <typename Visit>
  void each(Visit visit) {
    for (auto& [number, file] : files_) {
      if (const DescriptionRef open = file.lock()) visit(*open);
    }
  }

 private:
  std::unordered_map<std::uint64_t, std::weak_ptr<Description>> files_;
};

// --- Tracks which files are mapped where in an address space.

// The content of a mapping.
struct MappedFile {
  FileId file = kNoFileId;
  std::uint64_t offset = 0;  // of the mapping's start, in the file
  bool shared = false;
};

// A remaining part of a mapping: later maps and unmaps over it remove pieces.
struct MappedPiece {
  std::uint64_t end = 0;
  FileSlot mapping = 0;
  std::uint64_t offset = 0;  // of the piece's start, in the mapping
  MappedFile shown;          // by the whole mapping
};

// Number of pieces of each mapping, over all address spaces: forked processes share mappings.
class MappingUses {
 public:
  void add(FileSlot mapping);
  // True if it was the last piece.
  bool remove(FileSlot mapping);

 private:
  std::vector<std::uint32_t> uses_;
};

// Shared by tasks cloned with CLONE_VM. Anonymous memory is not tracked.
class AddressSpace {
 public:
  // The smallest page size of all processors. Starts of mappings are multiples of larger ones, too.
  static constexpr std::uint64_t kPage = 4096;
  // Linux allows 65,530 by default.
  static constexpr std::size_t kMaxPieces = 1 << 17;

  // The page-aligned end of the range that starts at `address`; at most the highest address.
  static std::uint64_t end_of(std::uint64_t address, std::uint64_t length);

  // False if there are too many pieces. The range must have been removed before.
  bool add(std::uint64_t begin, const MappedPiece& piece, MappingUses& uses);

  // Adds a mapping of the whole file at an unknown address: it stays until everything is unmapped.
  bool add_unplaced(std::uint64_t length, FileSlot mapping, const MappedFile& shown,
                    MappingUses& uses);

  // Removes [begin, end). Returns the mappings whose last piece was removed.
  std::vector<FileSlot> remove(std::uint64_t begin, std::uint64_t end, MappingUses& uses);

  // Moves [from, end) to `to` with a new length of `length` bytes. Returns the same.
  std::vector<FileSlot> move(std::uint64_t from, std::uint64_t end, std::uint64_t to,
                             std::uint64_t length, MappingUses& uses);

  struct Part {
    FileSlot mapping;
    std::uint64_t offset;  // in the mapping
    std::uint64_t length;
  };
  // The mapped parts of [begin, end).
  std::vector<Part> parts(std::uint64_t begin, std::uint64_t end) const;
  // The mapped parts of the bytes [begin, end) of a file, each byte at most once.
  std::vector<Part> parts_of_file(FileId file, std::uint64_t begin, std::uint64_t end,
                                  bool only_shared) const;

  void copy_from(const AddressSpace& other, MappingUses& uses);

 private:
  using Pieces = std::map<std::uint64_t, MappedPiece>;
  // Addresses that no program uses.
  static constexpr std::uint64_t kUnknownAddress = 1ULL << 63;

  Pieces::iterator erase(Pieces::iterator piece);

  Pieces pieces_;                                       // by start
  std::set<std::pair<FileId, std::uint64_t>> by_file_;  // their starts
};

// --- Threads and processes of the recorded system, with their shared state.

// State shared by CLONE_FS.
struct FsState {
  PathId directory = 0;              // the working directory
  std::optional<PathId> mount = {};  // by which a name led to it (ResolvedPath)
  std::uint64_t directory_ns = 0;    // when it became the working directory
  std::uint64_t changed_at = 0;      // number of operations at that time
  // Earlier directories of threads that share this state, with the number of operations until when
  // they were valid. A call in flight at that time may have used them.
  struct PastDirectory {
    PathId directory;
    std::uint64_t until;
  };
  std::vector<PastDirectory> past_directories;
  PathId root = 0;
  bool other_mounts = false;  // it entered its own mount namespace
  std::uint32_t umask = 022;  // the usual value; the program's initial umask is unknown
};

struct Process;

// A thread. As in Linux, shared state does not belong to the process: each task refers to it.
struct Task {
  std::uint32_t thread = 0;  // the system's number
  std::uint32_t number = 0;  // number in the trace
  Process* process = nullptr;
  std::shared_ptr<DescriptorTable> files;
  std::shared_ptr<FsState> fs_state;
  std::shared_ptr<AddressSpace> memory;
  std::uint64_t first_ns = 0;       // start of its first call
  std::uint64_t last_start_ns = 0;  // of its operations
  bool has_operations = false;
  bool faulted = false;        // its last operation is a page fault of the trace
  std::uint64_t requests = 0;  // asynchronous requests in flight
  bool reap_due = false;       // some requests completed since the last operation
  std::uint64_t reap_begin_ns = 0, reap_end_ns = 0;
};

struct Process {
  std::uint32_t id = 0;
  std::uint32_t leader = 0;  // its number in the trace
  std::vector<Task*> tasks;  // live tasks
  bool from_start = false;   // its start is in the trace
};

class TaskTable {
 public:
  Task* find(std::uint32_t thread);
  // The number of its process, if known.
  std::uint32_t process_of(std::uint32_t thread);
  // The task that performs outstanding work for `thread`, which may have ended: any live task, or a
  // stand-in for the last one.
  Task& stand_in_for(std::uint32_t thread);

  // Adds a task whose number must not be in use. Creates the process if it does not exist.
  Task& add(std::uint32_t thread, std::uint32_t process, std::uint32_t number);

  // Removes the task. What it refers to must have been released.
  void remove(Task& task, std::uint64_t at_ns);

  // The task continues under the number of its process (exec by another thread than the first).
  void rename(Task& task);

  // Moves a task that turned out to be a thread of another process.
  void join_process(Task& task, Process& process);

  Process* find_process(std::uint32_t id);

  // True if a thread of that number ended at or after `at_ns`: its end cut off a call that started
  // then.
  bool ended_after(std::uint32_t thread, std::uint64_t at_ns) const;
  bool has_ended(std::uint32_t thread) { return !find(thread) && ended_.contains(thread); }
  bool is_new(std::uint32_t thread) { return !find(thread) && !ended_.contains(thread); }

  // The number in the trace of a thread that runs, or of the last one of this number that ended.
  std::optional<std::uint32_t> number_of(std::uint32_t thread);

  // The leader's number in the trace of an ended process; returned once.
  std::optional<std::uint32_t> wait_for(std::uint32_t process);

  // All live tasks, by their numbers in the trace.
  std::vector<Task*> all();

 private:
  void leave_process(Task& task);

  std::unordered_map<std::uint32_t, std::unique_ptr<Task>> tasks_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Process>> processes_;
  struct Ended {
    std::uint64_t at_ns;
    std::uint32_t number;
  };
  std::unordered_map<std::uint32_t, Ended> ended_;                  // threads
  std::unordered_map<std::uint32_t, std::uint32_t> ended_leaders_;  // processes: leader's number
  Task last_ended_;                                                 // its number and time
};

}  // namespace filereel
