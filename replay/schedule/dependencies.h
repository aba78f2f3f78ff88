// Computes the waits of each operation of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "replay/schedule/happens_before.h"
#include "replay/schedule/resource_dependencies.h"
#include "replay/schedule/schedule.h"
#include "traces/operation.h"
#include "traces/recorded_trace.h"

namespace filereel {

// --- Renumbers the open files of a trace.

// Traces use the lowest free number, so a file often gets the number of one closed just before. Its
// open would have to wait for that close even if the two are unrelated. Here a lane first reuses
// the numbers that it freed itself, for which it need not wait; then unused numbers, of which there
// are more than needed; then numbers freed by other lanes. Always the one freed first. Works for
// mappings, too.
class SlotRenaming {
 public:
  // Numbers of the trace are below `slots`; `spare` more are used.
  SlotRenaming(std::size_t slots, std::size_t spare, std::size_t lanes);

  FileSlot opened(FileSlot slot, std::uint32_t lane);
  FileSlot used(FileSlot slot) const {
    return slot < renamed_.size() ? renamed_[slot] : never_opened();
  }
  FileSlot closed(FileSlot slot, std::uint32_t lane);
  // For an open that failed: a number used by no other, which is free again at once.
  FileSlot failed(std::uint32_t lane);

  // The number for uses of files that are not open.
  FileSlot never_opened() const { return static_cast<FileSlot>(numbers_.size() - 1); }
  // All numbers are below this.
  std::size_t size() const { return numbers_.size(); }

 private:
  static constexpr FileSlot kNone = UINT32_MAX;

  // A free number's neighbours in the list of all freed numbers, in order, and its successor among
  // those freed by the same lane.
  struct Number {
    FileSlot before = kNone, after = kNone, after_in_lane = kNone;
    std::uint32_t lane = 0;
  };
  struct Ends {
    FileSlot first = kNone, last = kNone;
  };

  FileSlot take(std::uint32_t lane);
  void take_out(FileSlot number);
  void give_back(FileSlot number, std::uint32_t lane);

  std::vector<FileSlot> renamed_;
  std::vector<Number> numbers_;  // with never_opened() at the end
  FileSlot unused_ = 0;          // this one and those above are unused
  Ends free_;
  std::vector<Ends> free_of_lane_;
};

// For traces of two or more lanes. Processes the operations in trace order. All waits are for
// earlier operations, so the first incomplete one can always continue. docs/replay.md defines the
// rules.
class Dependencies {
 public:
  // Additional open files that may be open at the same time.
  struct Spare {
    std::size_t slots, mappings;
  };

  // `tables` outlives the dependencies.
  Dependencies(Order order, const TraceTables& tables, const TraceInfo& info, std::size_t lanes,
               Spare spare);

  // Returns the waits of the next operation of the trace; `now` is the moment of its completion.
  // Renumbers its open file and its mapping. Valid until the next call.
  std::span<const LanePosition> add(Operation& operation, LanePosition now);

  std::size_t slots() const { return slots_.size(); }
  std::size_t mappings() const { return mappings_.size(); }

  HappensBefore& known() { return known_; }

 private:
  using OpenFile = OpenFileDependencies::OpenFile;
  struct Attributes {
    LanePosition change;
    LanePositions readers;  // since the change
  };

  void rename_slots(Operation& operation, std::uint32_t lane);
  void add_threads(const Operation& operation, LanePosition now);
  void add_resources(const Operation& operation, LanePosition now);
  OpenFile* add_open_file(const Operation& operation, LanePosition now);
  void add_data(const Operation& operation, OpenFile* open, LanePosition now);
  void add_mapping(const Operation& operation, const OpenFile* open, LanePosition now);
  void add_attributes(const Operation& operation, LanePosition now);
  void add_lock(FileId file, LanePosition now);

  DataDependencies::File* data_of(const Operation& operation, const OpenFile* open);
  void write(DataDependencies::File* file, ByteRange range, LanePosition now);

  Order order_;
  HappensBefore known_;
  SlotRenaming slots_, mappings_;
  OpenFileDependencies open_files_, open_mappings_;
  std::optional<NameDependencies> names_;  // for Order::resource
  DataDependencies data_;
  std::unordered_map<FileId, Attributes> attributes_;
  std::unordered_map<FileId, LanePosition> locks_;
  std::vector<LanePosition> changes_;  // each lane's last write or name change
  LanePosition previous_;
  struct Thread {
    LanePosition forked, last;
    LanePosition woken;  // the wake that its next wait needs, if any
  };
  std::vector<Thread> threads_;
};

}  // namespace filereel
