// Importers and recorders build traces with this class.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/model/tree_model.h"
#include "traces/recorded_trace.h"

namespace filereel {

// Counts operations of a trace.
class TraceCounter {
 public:
  void add(const RecordedOperation& recorded);

  // Sets the counts in `info` and, for each thread, those of its operations; appends missing
  // threads. Numbers of open files, mappings and files are raised to cover those used; higher
  // values stay.
  void fill(TraceInfo& info) const;

  std::uint64_t operations() const { return counts_.operations; }
  std::uint64_t end_ns() const { return end_; }  // of the operation that ends last

 private:
  TraceInfo counts_;
  std::uint64_t begin_ = std::numeric_limits<std::uint64_t>::max(), end_ = 0;
};

class TraceBuilder {
 public:
  // Both outlive the builder. `sink` receives each completed operation, in the order of add().
  TraceBuilder(TraceTables& tables, OperationSink& sink);

  TraceTables& tables() { return tables_; }
  TreeModel& model() { return model_; }

  // The number of `path`: '/' separates, "." and empty components are ignored, ".." removes one
  // component and never leaves the root. A leading '/' is ignored: every trace has one root. Names
  // over 255 bytes become their first 200 bytes and a hash, counted as approximated.
  PathId path(std::string_view path);

  // Threads are numbered from 0 in order of appearance.
  std::uint32_t add_thread(const TraceThread& thread);
  TraceThread& thread(std::uint32_t number) { return info_.threads[number]; }

  // The lowest free number of an open file or a mapping.
  FileSlot take_slot();
  void free_slot(FileSlot slot);
  FileSlot take_mapping();
  void free_mapping(FileSlot mapping);

  // Adds one operation. Sets its position, entry and hole; the caller sets the rest. Start times
  // may decrease between threads. Within a thread they are raised to the last one.
  void add(RecordedOperation operation);

  // Counts calls missing from the trace, or approximated.
  void lost(std::string_view what, std::uint64_t count = 1);
  void approximated(std::string_view what, std::uint64_t count = 1);
  void fact(std::string_view name, std::string_view value);
  // The program was stopped (SIGSTOP, Ctrl-Z) for so long; 0: it was not.
  void stopped(std::uint64_t ns);
  // Sets TraceInfo::recorder_ns; the largest value counts.
  void recorder_added(std::uint32_t ns);
  // Sets TraceInfo::waits. Of several recordings, all must have them.
  void waits_recorded(bool recorded);

  // The recording cannot be compared with the real tree. The first reason stays.
  void cannot_be_checked(std::string_view why) {
    if (info_.check.why_not.empty()) info_.check.why_not = why;
  }
  void checked(const RecordingCheck& check) { info_.check = check; }
  // Adds the counts of a recording that this trace is made of; its paths may have other names here.
  void add_check(const RecordingCheck& check);

  std::uint64_t operations() const { return counter_.operations(); }

  // Metadata of everything added so far. The trace is timed if any time is not 0.
  const TraceInfo& info();
  TraceTrees trees() const { return model_.trees(); }

 private:
  TraceTables& tables_;
  OperationSink& sink_;
  TreeModel model_;
  TraceCounter counter_;
  bool some_without_waits_ = false;
  TraceInfo info_;  // without the counts of operations, which the counter keeps
  std::vector<std::uint64_t> last_starts_;            // by thread
  std::vector<FileSlot> free_slots_, free_mappings_;  // min-heaps
};

}  // namespace filereel
