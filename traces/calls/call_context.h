// One system call while it is translated: what is true of this call alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/calls/system_call.h"
#include "traces/calls/task.h"

namespace filereel {

// What is known of a call's begin.
struct CallBeginning {
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  std::uint64_t position = kUnknown;  // how many operations there were
  DescriptionRef file;                // what `fd` was; null: not known
};

// Made for each call that is translated, and for each question about a call (call_explanations.h),
// and passed to all parts that work on it. Nothing of it lives on when the call is done.
struct CallContext {
  const SystemCall& call;
  Task& task;                                // of the call's thread
  const CallBeginning* beginning = nullptr;  // null: only asked about, not translated
  // Where relative names begin, if other threads move the working directory meanwhile.
  std::optional<PathId> directory = {};
  bool race = false;  // its result cannot be explained by the order

  // Found out on the way.
  bool blind = false;                     // it went through a symbolic link whose text is not known
  bool too_long = false;                  // a path of it is longer than any that is used
  std::vector<DescriptionRef> used = {};  // files that it uses and that are in no table any more

  // Of what it makes.
  std::uint32_t permissions() const {
    return static_cast<std::uint32_t>(call.mode) & 07777 & ~task.surroundings->umask;
  }
};

}  // namespace filereel
