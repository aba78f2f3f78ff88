// Conclusions from operations that failed.
#include <cerrno>

#include <fcntl.h>
#include <linux/fs.h>

#include "traces/model/tree_model_state.h"
#include "traces/open_flags.h"

namespace filereel {

// When creating something fails with ENOENT, only the parent can be missing.
void TreeModel::State::parent_missing(PathId path) {
  tree.found_missing(tree.parent(path));
}

void TreeModel::State::missing(const Operation& operation) {
  using enum OperationKind;
  switch (operation.kind) {
    case make_directory:
    case make_node:
    case symlink:
      return parent_missing(operation.path);
    case open:
      if ((operation.flags & O_CREAT) != 0) return parent_missing(operation.path);
      return tree.found_missing(operation.path);
    case link:
    case rename: {
      // Either the old name is missing or, for an exchange, the new name, otherwise the new name's
      // directory. If one is known to exist, it is the other.
      const bool exchange = operation.kind == rename && (operation.flags & RENAME_EXCHANGE) != 0;
      const PathId needed = exchange ? operation.path : tree.parent(operation.path);
      const bool by_file = operation.kind == link && operation.file != kNoFile;
      if (by_file || tree.present(operation.old_path) != kNoNode) {
        tree.found_missing(needed);
      } else if (const NodeId there = tree.present(needed);
                 there != kNoNode && (exchange || tree.node(there).kind == FileKind::directory)) {
        tree.found_missing(operation.old_path);
      }
      return;
    }
    default:
      return tree.found_missing(operation.path);
  }
}

void TreeModel::State::not_empty(PathId path) {
  const NodeId id = tree.require(path, FileKind::directory);
  if (id != kNoNode) tree.found_not_empty(id);
}

// Either the path itself or one of its parents; with two paths, any of the four.
void TreeModel::State::is_no_directory(const Operation& operation) {
  using enum OperationKind;
  if (operation.kind == rename || operation.kind == link) return;
  const bool wants_directory =
      operation.kind == remove_directory || operation.kind == change_directory ||
      (operation.kind == open && (operation.flags & open_flags::kDirectory) != 0);
  const PathId parent = tree.parent(operation.path);
  const FileTree::Found above = tree.find(parent);
  if (above.presence == FileTree::Presence::absent) return;
  const bool above_is_directory = above.presence == FileTree::Presence::present &&
                                  tree.node(above.node).kind == FileKind::directory;
  if (above_is_directory && wants_directory) {
    tree.require_assumed(operation.path, FileKind::file);
  } else if (!above_is_directory) {
    tree.require_assumed(parent, FileKind::file);
  }
}

void TreeModel::State::name_taken(const Operation& operation) {
  using enum OperationKind;
  switch (operation.kind) {
    case make_directory:
      tree.require_assumed(operation.path, FileKind::directory);
      break;
    case open:
    case make_node:
      tree.require_assumed(operation.path, FileKind::file);
      break;
    case remove_directory:
      not_empty(operation.path);
      break;
    case rename:
      if ((operation.flags & RENAME_NOREPLACE) != 0) {
        tree.require(operation.path);
      } else {
        not_empty(operation.path);
      }
      break;
    default:
      tree.require(operation.path);
  }
}

void TreeModel::State::failed(const Operation& operation) {
  using enum OperationKind;
  const Field fields = operation_info(operation.kind).fields;
  const bool by_path =
      has(fields, Field::path) || (has(fields, Field::target) && operation.file == kNoFile);
  if (!by_path) {
    if (operation.kind == read && operation.expected == -EISDIR) {
      tree.learn_kind(of_slot(operation.file), FileKind::directory);
    }
    return;
  }
  switch (-operation.expected) {
    case ENOENT:
      missing(operation);
      break;
    case EEXIST:
      name_taken(operation);
      break;
    case ENOTEMPTY:
      not_empty(operation.path);
      break;
    case ENOTDIR:
      is_no_directory(operation);
      break;
    case EISDIR:
      tree.require(operation.path, FileKind::directory);
      break;
    case ELOOP:
      if (operation.kind == open && (operation.flags & open_flags::kNoFollow) != 0) {
        tree.require(operation.path, FileKind::symlink);
      }
      break;
    case EINVAL:  // not a symbolic link
      if (operation.kind == read_link) tree.require(operation.path);
      break;
    case ENODATA:  // extended attributes of something that exists
    case ERANGE:
    case EOPNOTSUPP:
      if (has(fields, Field::target)) tree.require(operation.path);
      break;
    case EACCES:
      if (operation.kind == access || operation.kind == execute) tree.require(operation.path);
      break;
    default:
      break;
  }
}

}  // namespace filereel
