// What processes have open: descriptor numbers and the open file descriptions behind them.
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

// An open file: what dup and fork share.
struct Description : std::enable_shared_from_this<Description> {
  FileSlot slot = kNoFile;   // kNoFile: open since before the trace, and not used so far
  std::uint64_t number = 0;  // the kernel's for it, while it has one; see FileNumbers
  PathId path = 0;           // follows renames of the directories above it
  std::uint32_t flags = 0;   // O_*
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;  // of a directory: how many were listed since its beginning
  bool directory = false;
  bool inherited = false;  // open since before the trace: flags and offset are guesses, unless
  bool flags_known = false;
  std::optional<SeenStat> seen;   // what it was when the trace began, if that is known
  std::uint64_t size_before = 0;  // the same, until the trace shows it by appending to the file
  bool position_used = false;
  bool position_guessed = false;  // and used: what is read there may be another part of the file
  // Whose slot this uses, with a position of its own: the file has no name to open it by.
  std::shared_ptr<Description> opened_before;
};
using DescriptionRef = std::shared_ptr<Description>;

struct DescriptorEntry {
  DescriptionRef description;  // null: no file
  bool close_on_exec = false;
  std::uint64_t since_ns = 0;  // when the number was given out
};

// Numbers to open files. Shared by the tasks that were cloned with CLONE_FILES.
class DescriptorTable {
 public:
  // Null if the number is not known to be open.
  DescriptorEntry* find(int number) {
    const auto found = open_.find(number);
    return found == open_.end() ? nullptr : &found->second;
  }

  // Puts `descriptor` at `number` (not negative) and returns what was there.
  DescriptionRef put(int number, DescriptorEntry descriptor);

  // Takes `number` out; null if it was not open.
  DescriptionRef take(int number);

  // A close of `number` has not returned yet, although the number was given out again by `at_ns`.
  void expect_close(int number, std::uint64_t at_ns);
  // Whether a close that began at `began_ns` is one of those: what has the number now stays.
  bool is_late_close(int number, std::uint64_t began_ns);

  // Takes out all from `first` to `last`, in order.
  std::vector<DescriptionRef> take_range(int first, int last);
  std::vector<DescriptionRef> take_close_on_exec();
  void set_close_on_exec(int first, int last);

  // What the process has open without a number, for io_uring.
  // Returns what has lost its place to it: the kernel gave its number to `file`.
  DescriptionRef hold(const DescriptionRef& file);
  std::vector<DescriptionRef> take_held();
  // All that is open, with what has no number.
  std::vector<DescriptionRef> take_all();

  // Adds what `other` has where there is nothing here.
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
  // By number: until when closes that are to come must have begun, in order.
  std::map<int, std::vector<std::uint64_t>> late_closes_;
};

// Open files by the numbers that the kernel has for them. A number is its file's as long as the
// file is open, in whatever process; then it is given to another one. Number 0 is nobody's. Does
// not keep files open.
class FileNumbers {
 public:
  // Null if the number is not known.
  DescriptionRef find(std::uint64_t number);

  // `number` is `file`'s from now on (null: of something that is no file). What had it before, if
  // the trace has not seen it closed, has none any more.
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
