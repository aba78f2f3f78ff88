// Computes the waits of each operation of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "replay/schedule/data_dependencies.h"
#include "replay/schedule/happens_before.h"
#include "replay/schedule/name_dependencies.h"
#include "replay/schedule/open_file_dependencies.h"
#include "replay/schedule/schedule.h"
#include "replay/schedule/slot_renaming.h"
#include "traces/operation.h"
#include "traces/trace_info.h"

namespace filereel {

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
