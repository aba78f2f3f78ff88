// How this folder works: while a trace is built, check_text.h and content_check.h remember what a
// check needs. At the end, recording_check.cc walks the tree that the model expects and compares
// each name with the real one, with the help of content_check.h; other_changes.h has what other
// processes did, and check_text.h the messages. Start here.
//
// Compares a recording with reality. A trace is a claim about what a program did; after the program
// has ended, the tree that the claim implies is compared with the real one. A replay compares with
// the trace only, so an error of the trace would go unnoticed there.
//
// Compared is everything that the trace touched: existence, kind, size, permissions, target of
// links, hard links, and where files have holes; and names in directories that the trace does not
// know. Only what the trace states is compared, not what it assumes (ExpectedName).
//
// Others may change the same files. A change after the end of the recording is told by its time
// (st_ctime) and counted apart, and so is what another process was seen to change during the
// recording (OtherChanges: BPF only). Any other change counts as an error of the recording.
//
// Cost: one fstatat per name, in order of importance (first directories in which the trace changed
// names) until the time is over; the rest counts as unchecked. With content: a read of 32 bytes for
// each write that has not been overwritten.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filesets/system/descriptor.h"
#include "traces/check/check_text.h"
#include "traces/check/content_check.h"
#include "traces/check/other_changes.h"
#include "traces/model/tree_model.h"
#include "traces/recorded_trace.h"

namespace filereel {

// What a recording claims.
struct CheckedTrace {
  const TreeModel& model;  // has followed the whole trace, as have the others
  TraceTables& tables;     // texts of links may be added
  const LastOperations& last;
  const ContentSamples* content = nullptr;  // null: content is not compared
};

struct CheckRequest {
  Descriptor root;    // the directory at which the paths of the trace start
  std::string below;  // compare only this directory, relative to `root`; empty: all
  // `root` may be a copy without some of the directories at the top that existed before the trace.
  bool is_copy = false;
  // By the system clock, in ns; 0: unknown.
  std::uint64_t origin_ns = 0;                   // time 0 of the trace
  std::uint64_t ended_ns = 0;                    // later changes are not the trace's
  std::optional<double> seconds = std::nullopt;  // the most time that the check may take
  OtherChanges others = {};
};

struct CheckOutcome {
  RecordingCheck check;
  std::vector<TreeModel::ExistingFile> existing;  // what the trace does not know of its files
};

CheckOutcome check_recording(const CheckedTrace& trace, const CheckRequest& request);

}  // namespace filereel
