// Which recorder works here.
#pragma once

#include <string>
#include <string_view>

#include "traces/record/recorder.h"

namespace filereel {

struct RecorderChoice {
  const RecorderBackend* backend;
  // "by strace, several times slower: BPF needs root …".
  std::string description;
};

// The backend of that name, or for "auto" the best one that works, and that records 32-bit programs
// if `compat`. Throws Error(usage) for a name that there is not, Error(failed) if it does not work,
// or none does.
RecorderChoice choose_recorder(std::string_view name, bool compat);

// For doctor: the description of what "auto" chooses, or why nothing works.
std::string describe_recorders();

}  // namespace filereel
