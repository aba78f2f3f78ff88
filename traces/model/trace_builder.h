// Where importers and recorders put operations together into a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/model/trace_counter.h"
#include "traces/model/tree_model.h"
#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

class TraceBuilder {
 public:
  // Both outlive the builder. `sink` gets every operation, complete, in the order of add().
  TraceBuilder(TraceTables& tables, OperationSink& sink);

  TraceTables& tables() { return tables_; }
  TreeModel& model() { return model_; }

  // The number of `path`: '/' separates, "." and empty components are left out, ".." takes one
  // component back and never leaves the root. A leading '/' means nothing: every trace has one
  // root. Names over 255 bytes become their first 200 bytes and a hash, counted as approximated.
  PathId path(std::string_view path);

  // Threads are numbered from 0 as they come.
  std::uint32_t add_thread(const TraceThread& thread);
  TraceThread& thread(std::uint32_t number) { return info_.threads[number]; }

  // The lowest free number of an open file, of a mapping.
  FileSlot take_slot();
  void free_slot(FileSlot slot);
  FileSlot take_mapping();
  void free_mapping(FileSlot mapping);

  // Adds one operation: position, entry and hole are set here, the rest is the caller's. Start
  // times may go back between threads, not within one: there they are raised to the last one.
  void add(RecordedOperation operation);

  // Counts what is not in the trace, or only nearly.
  void lost(std::string_view what, std::uint64_t count = 1);
  void approximated(std::string_view what, std::uint64_t count = 1);
  void fact(std::string_view name, std::string_view value);
  // TraceInfo::recorder_ns; of several the largest counts.
  void recorder_added(std::uint32_t ns);

  std::uint64_t operations() const { return counter_.operations(); }

  // What there is to say of all that was added so far. It is timed if any time is not 0.
  const TraceInfo& info();
  TraceTrees trees() const { return model_.trees(); }

 private:
  TraceTables& tables_;
  OperationSink& sink_;
  TreeModel model_;
  TraceCounter counter_;
  TraceInfo info_;                                    // the counts of operations are the counter's
  std::vector<std::uint64_t> last_starts_;            // by thread
  std::vector<FileSlot> free_slots_, free_mappings_;  // min-heaps
};

}  // namespace filereel
