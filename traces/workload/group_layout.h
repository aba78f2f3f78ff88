// The files of a workload's group: names, sizes and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "filesets/file_set.h"
#include "traces/path_table.h"
#include "traces/workload/recipe.h"
#include "traces/workload/thread_streams.h"

namespace filereel {

// What the phases do with a group. Names and lists are created only if they are used, because a
// group may have millions of files.
struct GroupUse {
  bool accesses = false;  // reads and writes at positions
  bool steps = false;
  bool copies = false, renames = false, replaces = false;  // by steps
};

// The files are in the directory of the group's name; copies are in NAME.copy next to it.
class GroupLayout {
 public:
  // Adds the group's entries to `all`, whose indices are the FileIds, and its names to `paths`.
  // Throws Error.
  GroupLayout(const RecipeFiles& files, const Recipe& recipe, const GroupUse& use,
              std::uint64_t free_bytes, FileSet& all, PathTable& paths);

  bool exists() const { return exists_; }  // before the first phase
  std::uint64_t files() const { return files_; }
  std::uint64_t bytes() const { return bytes_; }

  const FileSpace& space(bool direct) const { return direct ? direct_space_ : space_; }
  const std::vector<AccessFile>& access_files() const { return access_files_; }  // if used
  const std::vector<StepFile>& step_files() const { return step_files_; }        // the same
  // Directories below the group's own, parents first, for a phase that creates the files.
  const std::vector<PathId>& directories() const { return directories_; }

  // Appends the entries of `all` that exist before the first phase to `initial`.
  // `with_directories`: also the directories of files created later.
  void add_initial(const FileSet& all, bool with_directories, FileSet& initial) const;

 private:
  void add_entries(const RecipeFiles& files, const Recipe& recipe, std::uint64_t free_bytes,
                   FileSet& all);
  void add_names(const RecipeFiles& files, const GroupUse& use, FileSet& all, PathTable& paths);
  void count_siblings(const PathTable& paths);

  bool exists_;
  std::uint64_t files_ = 0, bytes_ = 0;
  std::size_t first_, end_,
      copies_end_;  // of its entries in `all`: its own, then copies' directory
  FileSpace space_{{}, false}, direct_space_{{}, true};
  std::vector<AccessFile> access_files_;
  std::vector<StepFile> step_files_;
  std::vector<PathId> directories_;
};

}  // namespace filereel
