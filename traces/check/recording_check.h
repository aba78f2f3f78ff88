// Compares a recording with reality. A trace is a claim about what a program did; after the program
// has ended, the tree that the claim implies is compared with the real one. A replay compares with
// the trace only, so an error of the trace would go unnoticed there.
//
// Compared is everything that the trace touched: existence, kind, size, permissions, target of
// links, hard links, and where files have holes; and names in directories that the trace does not
// know. Only what the trace states is compared, not what it assumes (ExpectedName).
//
// Others may change the same files. A change after the end of the recording is told by its time
// (st_ctime) and counted apart. A change by another process during the recording cannot be told
// from an error of the recording and counts as one.
//
// Cost: one fstatat per name, in order of importance (first directories in which the trace changed
// names) until the time is over; the rest counts as unchecked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filesets/system/descriptor.h"
#include "traces/check/last_operations.h"
#include "traces/model/tree_model.h"
#include "traces/trace_info.h"

namespace filereel {

struct CheckRequest {
  Descriptor root;    // the directory at which the paths of the trace start
  std::string below;  // compare only this directory, relative to `root`; empty: all
  // `root` may be a copy without some of the directories at the top that existed before the trace.
  bool is_copy = false;
  // By the system clock, in ns; 0: unknown.
  std::uint64_t origin_ns = 0;                   // time 0 of the trace
  std::uint64_t ended_ns = 0;                    // later changes are not the trace's
  std::optional<double> seconds = std::nullopt;  // the most time that the check may take
};

struct CheckOutcome {
  RecordingCheck check;
  std::vector<TreeModel::ExistingFile> existing;  // what the trace does not know of its files
};

// `model` and `last` have followed the whole trace, with the names in `tables`; texts of links may
// be added.
CheckOutcome check_recording(const TreeModel& model, TraceTables& tables,
                             const LastOperations& last, const CheckRequest& request);

}  // namespace filereel
