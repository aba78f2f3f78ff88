// Choice of a recorder that works on this machine.
#pragma once

#include <string>
#include <string_view>

#include "traces/record/recorder.h"

namespace filereel {

struct RecorderChoice {
  const RecorderBackend* backend;
  // "with strace, several times slower: BPF needs root …".
  std::string description;
};

// The backend with this name, or for "auto" the best one that works (and, if `compat`, records
// 32-bit programs). Throws Error(usage) for an unknown name, Error(failed) if it does not work or
// none does.
RecorderChoice choose_recorder(std::string_view name, bool compat);

// For doctor: the description of the recorder that "auto" chooses, or why none works.
std::string describe_recorders();

}  // namespace filereel
