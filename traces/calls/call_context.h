// The context of one system call during its translation: facts about this call only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/calls/system_call.h"
#include "traces/calls/task.h"

namespace filereel {

// Facts known when a call starts.
struct CallStart {
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  struct Used {
    DescriptionRef file;    // null: unknown
    bool is_other = false;  // it was not a file
  };
  std::uint64_t position = kUnknown;  // number of operations so far
  std::array<Used, 2> used = {};      // what `fd` and `fd2` referred to
};

// Created for each call to be translated and for each question about a call (call_explanations.h),
// and passed to all parts that work on it. Discarded when the call is done.
struct CallContext {
  const SystemCall& call;
  Task& task;                            // of the call's thread
  const CallStart* beginning = nullptr;  // null: a question only, no translation
  // The base of relative names, if other threads change the working directory meanwhile.
  std::optional<PathId> directory = {};
  bool race = false;  // the order does not explain its result

  // Determined during translation.
  bool unknown_link = false;              // it passed a symbolic link with unknown target
  std::optional<PathId> removed = {};     // a removed directory that it used
  std::optional<PathId> mount = {};       // by which its last name led to the path (ResolvedPath)
  bool too_long = false;                  // one of its paths exceeds the limit for operations
  std::vector<DescriptionRef> used = {};  // files that it uses and that are no longer in any table

  // Permissions of what it creates.
  std::uint32_t permissions() const {
    return static_cast<std::uint32_t>(call.mode) & 07777 & ~task.fs_state->umask;
  }
};

}  // namespace filereel
