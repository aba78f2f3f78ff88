// The order of operations on names.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/schedule/known_order.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// Each operation on a path reads the names of all directories on the way, and reads or changes the
// last one. A change of a name comes after everything that was done with it, and with all names
// below it, since its last change; whatever uses the name later comes after the change.
class NameDependencies {
 public:
  // Both outlive the dependencies.
  NameDependencies(const PathTable& paths, KnownOrder& order);

  // The needs of `operation`, which is done at `now`. True if it changes a name.
  bool add(const Operation& operation, Moment now);

  // Something that has nothing to do with names but for that `path` must be there.
  void read(PathId path, Moment now);

 private:
  struct Name {
    PathId parent;
    PathId first_used = PathTable::kNone;  // of the names below that were used: a list
    PathId next_used = PathTable::kNone;
    bool used = false;          // is in its parent's list
    bool exists = false;        // certainly; false: not known
    bool content_read = false;  // see contents_
    Moment change;              // the last one
    MomentSet readers;          // since then
  };

  void change(PathId path, Moment now, bool exists);
  void read_content(PathId path, Moment now);
  bool open(const Operation& operation, Moment now);

  void need_ancestors(PathId path);
  void need_below(PathId path);
  void mark_used(PathId path);

  KnownOrder& order_;
  std::vector<Name> names_;
  // Those who found that there are names below a path: changes of these come after them.
  std::unordered_map<PathId, MomentSet> contents_;
  std::vector<PathId> walk_;
};

}  // namespace filereel
