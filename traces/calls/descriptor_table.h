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
//
// Descriptors of processes: their numbers and the open file descriptions behind them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "traces/calls/system_call.h"
#include "traces/operation.h"

namespace filereel {

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

}  // namespace filereel
