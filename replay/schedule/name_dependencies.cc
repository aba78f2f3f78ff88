// The problem. An operation on /a/b/c reads the names a and b and uses c. A rename or removal of /a
// must wait for all that was done below it. Entering each operation as a reader of all names of its
// path would provide for that, at the expense of all operations, although directories are rarely
// renamed.
//
// So an operation is recorded at its last name only. It asks the directories above for their last
// change (need_ancestors), and a change of a name asks everything used below it (need_below). For
// this, the used names of a directory are linked in a list, up to the root (mark_used). After the
// change, what was done below is represented by the change itself: the names below are reset and
// taken out of the lists. So each use is visited once, however many directories are renamed above
// it, and an operation costs the depth of its path.
//
// Invariants:
// - A name with a change or readers is in the list of its parent, and so are all its parents.
//   Otherwise a change above would not find it.
// - A PathId is a name, not a file. A rename is a change of two names: uses of the old name precede
//   it, uses of the new one follow.
// - `exists` is a conclusion from results: opens with O_CREAT of a name that exists are reads. Else
//   all opens of a log file would be changes and wait for each other. A change above clears it.
// - contents_ has operations that found a directory not empty. Later changes of names in it wait
//   for them, so that it is not emptied before.
#include "replay/schedule/name_dependencies.h"

#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>

#include "traces/open_flags.h"

namespace filereel {

NameDependencies::NameDependencies(const PathTable& paths, HappensBefore& order) : order_(order) {
  names_.reserve(paths.size());
  for (PathId id = 0; id < paths.size(); ++id) {
    names_.emplace_back();
    names_.back().parent = paths.node(id).parent;
  }
}

bool NameDependencies::add(const Operation& op, LanePosition now) {
  const bool succeeded = op.expected >= 0;
  switch (op.kind) {
    case OperationKind::open:
      return open(op, now);
    case OperationKind::make_directory:
    case OperationKind::symlink:
    case OperationKind::make_node:
      if (!succeeded) break;
      change(op.path, now, true);
      return true;
    case OperationKind::link:
      if (op.file == kNoFile) read(op.old_path, now);
      if (!succeeded) break;
      change(op.path, now, true);
      return true;
    case OperationKind::unlink:
      if (!succeeded) break;
      change(op.path, now, false);
      return true;
    case OperationKind::remove_directory:
      if (succeeded) {
        change(op.path, now, false);
        return true;
      }
      if (op.expected == -ENOTEMPTY || op.expected == -EEXIST) read_content(op.path, now);
      break;
    case OperationKind::rename:
      if (succeeded) {
        change(op.old_path, now, (op.flags & RENAME_EXCHANGE) != 0);
        change(op.path, now, true);
        return true;
      }
      if (op.expected == -ENOTEMPTY || op.expected == -EEXIST) read_content(op.path, now);
      read(op.old_path, now);
      break;
    default: {
      const Field fields = operation_info(op.kind).fields;
      if (!has(fields, Field::path) && !(has(fields, Field::target) && op.file == kNoFile)) {
        return false;
      }
      break;
    }
  }
  read(op.path, now);
  if (succeeded) names_[op.path].exists = true;
  return false;
}

// With O_CREAT it creates the name, unless the name is known to exist.
bool NameDependencies::open(const Operation& op, LanePosition now) {
  const bool succeeded = op.expected >= 0;
  const bool may_create =
      (op.flags & O_CREAT) != 0 && (op.flags & open_flags::kTemporary) != open_flags::kTemporary;
  const bool already_existed = names_[op.path].exists && (op.flags & O_EXCL) == 0;
  if (succeeded && may_create && !already_existed) {
    change(op.path, now, true);
    return true;
  }
  read(op.path, now);
  if (succeeded) names_[op.path].exists = true;
  return false;
}

void NameDependencies::read(PathId path, LanePosition now) {
  need_ancestors(path);
  mark_used(path);
  Name& name = names_[path];
  order_.need(name.change);
  name.readers.add(now);
}

void NameDependencies::change(PathId path, LanePosition now, bool exists) {
  need_ancestors(path);
  mark_used(path);
  need_below(path);
  Name& name = names_[path];
  order_.need(name.change);
  order_.need(name.readers);
  if (names_[name.parent].content_read) order_.need(contents_[name.parent]);
  name.change = now;
  name.readers.clear();
  name.exists = exists;
}

void NameDependencies::read_content(PathId path, LanePosition now) {
  for (PathId below = names_[path].first_used; below != PathTable::kNone;
       below = names_[below].next_used) {
    order_.need(names_[below].change);
  }
  names_[path].content_read = true;
  contents_[path].add(now);
}

void NameDependencies::need_ancestors(PathId path) {
  for (PathId at = path, up = names_[at].parent; up != at; at = up, up = names_[at].parent) {
    order_.need(names_[up].change);
  }
}

// Afterwards, the change of `path` represents everything done below it.
void NameDependencies::need_below(PathId path) {
  walk_.assign(1, path);
  while (!walk_.empty()) {
    Name& directory = names_[walk_.back()];
    walk_.pop_back();
    PathId below = std::exchange(directory.first_used, PathTable::kNone);
    while (below != PathTable::kNone) {
      Name& name = names_[below];
      order_.need(name.change);
      order_.need(name.readers);
      name.change = {};
      name.readers.clear();
      name.used = name.exists = false;
      walk_.push_back(below);
      below = std::exchange(name.next_used, PathTable::kNone);
    }
    if (directory.content_read) {
      directory.content_read = false;
      order_.need(contents_[static_cast<PathId>(&directory - names_.data())]);
      contents_.erase(static_cast<PathId>(&directory - names_.data()));
    }
  }
}

// All used names are linked to the root, so that a walk finds them.
void NameDependencies::mark_used(PathId path) {
  while (!names_[path].used) {
    Name& name = names_[path];
    if (name.parent == path) return;
    name.used = true;
    name.next_used = std::exchange(names_[name.parent].first_used, path);
    path = name.parent;
  }
}

}  // namespace filereel
