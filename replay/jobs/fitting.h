// Fits file sets and traces to the limits of the volumes, before any clock starts.
//
// Names and texts of symbolic links are escaped (replay/volumes/name_rules.h), so that links lead
// where they led. Links and holes are left out if a file system
// does not support them. What a volume cannot hold at all is refused. Results count and name the
// changes.
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
#include "traces/recorded_trace.h"

namespace filereel {

// What was changed.
struct Fitting {
  std::uint64_t names_changed = 0;
  // For a set, the paths whose own last component was changed; for a trace, the first names.
  std::vector<EscapedPath> escaped;
  std::uint64_t texts_changed = 0;  // of symbolic links
  std::uint64_t times_outside = 0;  // entries with a time that the file system changes
  std::uint64_t symlinks_left_out = 0, hard_links_left_out = 0;
  std::uint64_t holes_filled = 0;  // files
};

// A file set that the volumes can hold.
struct FittedSet : Fitting {
  FileSet set;
};

// `limits` are those of every volume for the set. On case-insensitive file systems, names that
// differ only in case get the suffix "%~1", "%~2" …. Throws Error(failed) for what a volume cannot
// hold: a name or text that is too long once escaped, a file that is too large, and so on. The
// message names it and says what to do.
FittedSet fit_file_set(const FileSet& set, const std::vector<FileSystemLimits>& limits);

// Fits the names of a trace to a volume. A suffix distinguishes names that differ only in case. It
// belongs to the name everywhere in the trace, so that children of renamed directories keep their
// names.
class NameFitter {
 public:
  explicit NameFitter(const FileSystemLimits& limits) : limits_(limits) {}

  // Names that exist in the root of a volume are escaped there. Throws Error(failed) for a name
  // that is too long once escaped.
  std::string fit(std::string_view name, bool in_root);

  // The text of a symbolic link, with the same names, or the name of an attribute. A replay does
  // not follow links, so names of the root have their usual form.
  std::string fit_text(std::string_view text);

 private:
  std::string escaped(std::string_view name);

  const FileSystemLimits limits_;
  // By case-folded name: the names that share it, in order of appearance.
  std::unordered_map<std::string, std::vector<std::string>> taken_;
};

struct FittedTrace : Fitting {
  std::unique_ptr<TraceTables> tables;  // null: the trace's own tables fit
  FileSet initial, final;
};

// As fit_file_set, for the initial tree. The final tree is the one after the trace; parts that
// cannot exist on the volume show as divergences of the replay.
FittedTrace fit_trace(const PathTable& paths, const TextTable& texts, const TraceTrees& trees,
                      const std::vector<FileSystemLimits>& limits);
inline FittedTrace fit_trace(const TraceTables& tables, const TraceTrees& trees,
                             const std::vector<FileSystemLimits>& limits) {
  return fit_trace(tables.paths, tables.texts, trees, limits);
}

// Adds the changes to a result: a warning for each kind of change, and the names. `subject` is the
// set or the trace.
void add_fitting(const Fitting& fitting, const std::string& file_system, const std::string& subject,
                 Result& result);

// Adds a warning if FC-Test creates the files of the set without their times, or with other modes.
void warn_of_attributes(const FileSet& set, Result& result);

}  // namespace filereel
