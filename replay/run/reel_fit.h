// Fits a recorded trace to what a volume can hold, before any clock starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/volumes/file_system.h"
#include "replay/volumes/name_rules.h"
#include "traces/trace_info.h"

namespace filereel {

// Names as the volume can hold them. Cases are told apart by a mark at the end (name_rules.h) that
// goes with the name wherever in the trace it stands, so that renamed directories keep their
// children's names.
class NameFitter {
 public:
  explicit NameFitter(const FileSystemLimits& limits) : limits_(limits) {}

  // The name of the root that belongs to the file system, "lost+found", is escaped in it.
  static bool is_reserved(std::string_view name);

  // Throws Error(failed) for a name that is too long once escaped.
  std::string fit(std::string_view name, bool in_root);

 private:
  const FileSystemLimits limits_;
  // By their names without regard to case: the names that have it, in the order they came.
  std::unordered_map<std::string, std::vector<std::string>> taken_;
};

struct FittedTrace {
  // Null: the trace's own do.
  std::unique_ptr<TraceTables> tables;
  FileSet initial, final;
  std::uint64_t names_changed = 0;
  std::vector<EscapedPath> escaped;  // the first ones, names alone
  // What is left out of the initial tree.
  std::uint64_t symlinks_left_out = 0, hard_links_left_out = 0, holes_filled = 0;
};

// Throws Error(failed) if a file of the initial tree is too large for the volume or a name too
// long.
FittedTrace fit_trace(const PathTable& paths, const TextTable& texts, const TraceTrees& trees,
                      const FileSystemLimits& limits);
inline FittedTrace fit_trace(const TraceTables& tables, const TraceTrees& trees,
                             const FileSystemLimits& limits) {
  return fit_trace(tables.paths, tables.texts, trees, limits);
}

}  // namespace filereel
