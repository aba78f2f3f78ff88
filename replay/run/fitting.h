// Fits file sets and traces to what volumes can hold, before any clock starts.
//
// Names are escaped (replay/volumes/name_rules.h), links and holes are left out where a file system
// has none, and what cannot be there at all is refused. What was changed is counted, and told in
// results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/results/result.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/name_rules.h"
#include "traces/trace_info.h"

namespace filereel {

// What was changed.
struct Fitting {
  std::uint64_t names_changed = 0;
  // Of a set the paths whose own last component was changed; of a trace the first names.
  std::vector<EscapedPath> escaped;
  std::uint64_t symlinks_left_out = 0, hard_links_left_out = 0;
  std::uint64_t holes_filled = 0;  // files
};

// A file set as the volumes can hold it.
struct FittedSet : Fitting {
  FileSet set;
};

// `limits` of every volume that the set is to lie on. Names that differ in case only get the mark
// "%~1", "%~2" … at their end where cases are not told apart. Throws Error(failed) for a file that
// is too large for a volume or a name that is too long once escaped: which one, and what to do.
FittedSet fit_file_set(const FileSet& set, const std::vector<FileSystemLimits>& limits);

// The names of a trace as the volume can hold them. Cases are told apart by a mark at the end that
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

struct FittedTrace : Fitting {
  std::unique_ptr<TraceTables> tables;  // null: the trace's own do
  FileSet initial, final;
};

// As fit_file_set, of the initial tree. The final tree is what the trace would leave; what of it
// cannot be there is a divergence of the replay.
FittedTrace fit_trace(const PathTable& paths, const TextTable& texts, const TraceTrees& trees,
                      const std::vector<FileSystemLimits>& limits);
inline FittedTrace fit_trace(const TraceTables& tables, const TraceTrees& trees,
                             const std::vector<FileSystemLimits>& limits) {
  return fit_trace(tables.paths, tables.texts, trees, limits);
}

// Throws Error(failed) if a file of the set is larger than the volumes hold; `advice` says what to
// do.
void check_file_sizes(const FileSet& set, const std::vector<FileSystemLimits>& limits,
                      std::string_view advice);

// Adds what was changed to a result: a warning for each kind of change, and the names. `subject`
// is the set or the trace.
void add_fitting(const Fitting& fitting, const std::string& file_system, const std::string& subject,
                 Result& result);

}  // namespace filereel
