// What each operation of a trace must wait for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "replay/schedule/data_dependencies.h"
#include "replay/schedule/known_order.h"
#include "replay/schedule/name_dependencies.h"
#include "replay/schedule/open_file_dependencies.h"
#include "replay/schedule/schedule.h"
#include "replay/schedule/slot_renaming.h"
#include "traces/operation.h"
#include "traces/trace_info.h"

namespace filereel {

// For traces of two lanes and more. Follows the operations in trace order; all waits are for
// earlier operations, so that the first one that is not done can always go on. The rules are those
// of docs/replay.md.
class Dependencies {
 public:
  // Open files beyond those of the trace that may be open at once.
  struct Spare {
    std::size_t slots, mappings;
  };

  // `tables` outlives the dependencies.
  Dependencies(Order order, const TraceTables& tables, const TraceInfo& info, std::size_t lanes,
               Spare spare);

  // What the next operation of the trace waits for; `now` is when it is done. Gives its open file
  // and its mapping their new numbers. Valid until the next call.
  std::span<const Moment> add(Operation& operation, Moment now);

  std::size_t slots() const { return slots_.size(); }
  std::size_t mappings() const { return mappings_.size(); }

  KnownOrder& known() { return known_; }

 private:
  using OpenFile = OpenFileDependencies::OpenFile;
  struct Attributes {
    Moment change;
    MomentSet readers;  // since then
  };

  void rename_slots(Operation& operation, std::uint32_t lane);
  void add_threads(const Operation& operation, Moment now);
  void add_resources(const Operation& operation, Moment now);
  OpenFile* add_open_file(const Operation& operation, Moment now);
  void add_data(const Operation& operation, OpenFile* open, Moment now);
  void add_mapping(const Operation& operation, const OpenFile* open, Moment now);
  void add_attributes(const Operation& operation, Moment now);
  void add_lock(FileId file, Moment now);

  DataDependencies::File* data_of(const Operation& operation, const OpenFile* open);
  void write(DataDependencies::File* file, ByteRange range, Moment now);

  Order order_;
  KnownOrder known_;
  SlotRenaming slots_, mappings_;
  OpenFileDependencies open_files_, open_mappings_;
  std::optional<NameDependencies> names_;  // for Order::resource
  DataDependencies data_;
  std::unordered_map<FileId, Attributes> attributes_;
  std::unordered_map<FileId, Moment> locks_;
  std::vector<Moment> changes_;  // each lane's last write or change of a name
  Moment previous_;
  struct Thread {
    Moment forked, last;
  };
  std::vector<Thread> threads_;
};

}  // namespace filereel
