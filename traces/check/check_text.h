// What the comparison of a recording with reality has found, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/recorded_trace.h"

namespace filereel {

// The last operation on each file and name of a trace while it is built, for messages.
class LastOperations {
 public:
  struct Last {
    std::uint64_t position = 0;  // in the trace, from 1; 0: none
    std::uint64_t end_ns = 0;    // since the start of the trace
    OperationKind kind = OperationKind::barrier;
  };

  // Call it with every operation, in order, after its `entry` has been set.
  void add(const RecordedOperation& recorded);

  // The last operation on the file under any of its names, or that changed this name, whichever
  // was later. kNoFileId: only the name.
  Last of(FileId file, PathId name) const;

 private:
  // 24 bytes for each file and for each path up to the last one that was changed.
  std::vector<Last> files_, names_;
};

// "the recording differs from reality in 2 files:", then one indented line for each described
// difference, how much of the content was compared, and what was not compared; nothing if there is
// nothing to say. Printable.
std::vector<std::string> describe_check(const RecordingCheck& check);

// The differences in one line: "the recording differs from reality in 2 files: …; …"; empty: none.
std::string describe_differences(const RecordingCheck& check);

}  // namespace filereel
