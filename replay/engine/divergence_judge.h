// Tells what kind of divergence one is.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "replay/engine/statistics.h"
#include "traces/operation.h"

namespace filereel {

// Shared by all threads of a replay; only asked when a result differs.
class DivergenceJudge {
 public:
  // `paths` outlives the judge.
  explicit DivergenceJudge(const PathTable& paths) : paths_(paths) {}

  // The class of the divergence of `operation`, which returned `result` (a failure is -errno).
  // Remembers the files and names that it touched: what differs on them later, or on anything below
  // these names, is a consequence. `path` is the name of the open file if the operation uses one.
  DivergenceClass judge(const Operation& operation, PathId path, std::int64_t result) noexcept;

 private:
  const PathTable& paths_;
  std::mutex mutex_;
  std::unordered_set<PathId> names_;
  std::unordered_set<FileId> files_;
  std::unordered_set<FileSlot> slots_;
};

}  // namespace filereel
