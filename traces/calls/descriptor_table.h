// What a process has open: descriptor numbers and the open file descriptions behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "traces/operation.h"

namespace filereel {

// An open file: what dup and fork share.
struct Description {
  FileSlot slot = kNoFile;  // kNoFile: open since before the trace, and not used so far
  PathId path = 0;          // follows renames of the directories above it
  std::uint32_t flags = 0;  // O_*
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;  // of a directory: how many were listed since its beginning
  bool directory = false;
  bool inherited = false;  // open since before the trace: flags and offset are guesses
  bool position_used = false;
};
using DescriptionRef = std::shared_ptr<Description>;

struct Descriptor {
  DescriptionRef description;  // null: no file
  bool close_on_exec = false;
  // The number was given out again at this time while it was not known to be free: a close that
  // began before meant the earlier file.
  bool reused = false;
  std::uint64_t reused_ns = 0;
};

// Numbers to open files. Shared by the tasks that were cloned with CLONE_FILES.
class DescriptorTable {
 public:
  // Null if the number is not known to be open.
  Descriptor* find(int number) {
    const auto found = open_.find(number);
    return found == open_.end() ? nullptr : &found->second;
  }

  // Puts `descriptor` at `number` (not negative) and returns what was there.
  Descriptor put(int number, Descriptor descriptor);

  // Takes `number` out; an empty descriptor if it was not open.
  Descriptor take(int number);

  // Takes out all from `first` to `last`, in order.
  std::vector<Descriptor> take_range(int first, int last);
  std::vector<Descriptor> take_close_on_exec();
  void set_close_on_exec(int first, int last);

  // Adds what `other` has at numbers that are free here.
  void add_missing(const DescriptorTable& other);

  // Calls `visit` with every open file.
  template <typename Visit>
  void each(Visit visit) {
    for (auto& [number, descriptor] : open_) {
      if (descriptor.description) visit(*descriptor.description);
    }
  }

  std::size_t size() const { return open_.size(); }

 private:
  std::map<int, Descriptor> open_;
};

}  // namespace filereel
