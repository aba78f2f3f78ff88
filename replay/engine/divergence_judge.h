// Tells what differs from the trace, and what kind of divergence it is.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "replay/engine/statistics.h"
#include "traces/operation.h"

namespace filereel {

// Whether `result` is as good as the expected one: the kind is not compared, or file systems say
// the same thing in two ways (POSIX allows EEXIST and ENOTEMPTY for a directory that is not empty).
bool same_result(const Operation& operation, std::int64_t result) noexcept;

// Shared by all threads of a replay; only asked when a result differs.
class DivergenceJudge {
 public:
  // `paths` outlives the judge.
  explicit DivergenceJudge(const PathTable& paths) : paths_(paths) {}

  // The class of the divergence of `operation`, which returned `result` (a failure is -errno).
  // Remembers the files and names that it touched: what differs on them later, or on anything below
  // names that are or are not there, is a consequence. `path` is the name of the open file if the
  // operation uses one.
  DivergenceClass judge(const Operation& operation, PathId path, std::int64_t result) noexcept;

  // Whether an earlier divergence explains whatever is wrong with the operation's file.
  bool is_consequence(const Operation& operation, PathId path) noexcept;

 private:
  // Enough to explain anything; a hostile trace cannot take more memory.
  static constexpr std::size_t kMostRemembered = 1'000'000;

  bool touched(const Operation& operation, PathId path) const;
  bool touched_name(PathId path) const;
  void remember(const Operation& operation, PathId path, std::int64_t result);
  void remember_name(PathId path, bool below);

  const PathTable& paths_;
  std::mutex mutex_;
  std::unordered_map<PathId, bool> names_;  // true: with all that is below
  std::unordered_set<FileId> files_;
  std::unordered_set<FileId> attributes_;  // files whose extended attributes are not as they were
  std::unordered_set<FileSlot> slots_;     // open files whose file is not known
  std::unordered_set<FileSlot> mappings_;
};

}  // namespace filereel
