// Detects divergences from the trace and classifies them.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "replay/engine/statistics.h"
#include "traces/operation.h"

namespace filereel {

// Whether `result` is equivalent to the expected one: the kind is not compared, or file systems
// report the same condition in two ways (POSIX allows EEXIST and ENOTEMPTY for a directory that is
// not empty).
bool same_result(const Operation& operation, std::int64_t result) noexcept;

// Shared by all threads of a replay; used only if a result differs.
class DivergenceClassifier {
 public:
  // `paths` outlives the classifier.
  explicit DivergenceClassifier(const PathTable& paths) : paths_(paths) {}

  // Classifies the divergence of `operation`, which returned `result` (a failure is -errno).
  // Remembers the files and names it touched: a later divergence on them, or below names whose
  // existence differs, is a consequence. `path` is the name of the open file if the operation uses
  // one.
  DivergenceClass judge(const Operation& operation, PathId path, std::int64_t result) noexcept;

  // Whether an earlier divergence explains a fault of the operation's file.
  bool is_consequence(const Operation& operation, PathId path) noexcept;

 private:
  // Enough for any explanation, and bounded for hostile traces.
  static constexpr std::size_t kMostRemembered = 1'000'000;

  bool touched(const Operation& operation, PathId path) const;
  bool touched_name(PathId path) const;
  void remember(const Operation& operation, PathId path, std::int64_t result);
  void remember_name(PathId path, bool below);

  const PathTable& paths_;
  std::mutex mutex_;
  std::unordered_map<PathId, bool> names_;  // true: including everything below
  std::unordered_set<FileId> files_;
  std::unordered_set<FileId> attributes_;  // files with divergent extended attributes
  std::unordered_set<FileSlot> slots_;     // open files of unknown files
  std::unordered_set<FileSlot> mappings_;
};

}  // namespace filereel
