// Orders operations on names.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/schedule/happens_before.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// Each operation on a path reads the names of all its parent directories, and reads or changes the
// last name. A change of a name waits for all uses of it, and of all names below it, since its last
// change. All later uses of the name wait for the change.
class NameDependencies {
 public:
  // Both outlive the dependencies.
  NameDependencies(const PathTable& paths, HappensBefore& order);

  // Adds the waits of `operation`, which completes at `now`. Returns true if it changes a name.
  bool add(const Operation& operation, LanePosition now);

  // An operation that only needs `path` to exist.
  void read(PathId path, LanePosition now);

 private:
  struct Name {
    PathId parent;
    PathId first_used = PathTable::kNone;  // list of the used names below
    PathId next_used = PathTable::kNone;
    bool used = false;          // in its parent's list
    bool exists = false;        // known to exist; false: unknown
    bool content_read = false;  // see contents_
    LanePosition change;        // the last change
    LanePositions readers;      // since the change
  };

  void change(PathId path, LanePosition now, bool exists);
  void read_content(PathId path, LanePosition now);
  bool open(const Operation& operation, LanePosition now);

  void need_ancestors(PathId path);
  void need_below(PathId path);
  void mark_used(PathId path);

  HappensBefore& order_;
  std::vector<Name> names_;
  // Operations that found a directory not empty: changes of the names below wait for them.
  std::unordered_map<PathId, LanePositions> contents_;
  std::vector<PathId> walk_;
};

}  // namespace filereel
