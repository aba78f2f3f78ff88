#include "traces/model/tree_model.h"

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>

#include "traces/model/file_tree.h"
#include "traces/model/tree_model_state.h"
#include "traces/open_flags.h"

namespace filereel {

std::vector<ExpectedDirectory> FileTree::expected_directories() const {
  std::vector<ExpectedDirectory> directories;
  directories.emplace_back().node = facts_[PathTable::root(Role::near)].node;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    const FileNode& node = nodes_[directories[i].node];
    directories[i].complete = node.closed;
    if (!node.directory) continue;
    directories[i].names = node.directory->entries.size();
    for (const auto& [name, entry] : node.directory->entries) {
      if (entry.changed_at != DirectoryEntry::kNever) directories[i].changed = true;
      if (entry.now != Presence::present) continue;
      if (nodes_[entry.node].kind != FileKind::directory || nodes_[entry.node].kind_assumed) {
        continue;
      }
      const std::string& above = directories[i].path;
      std::string path = above.empty() ? names_.text(name) : above + "/" + names_.text(name);
      ExpectedDirectory& below = directories.emplace_back();
      below.path = std::move(path);
      below.node = entry.node;
    }
  }
  return directories;
}

std::vector<ExpectedName> FileTree::expected_names(NodeId directory) const {
  std::vector<ExpectedName> names;
  if (!nodes_[directory].directory) return names;
  for (const auto& [name, entry] : nodes_[directory].directory->entries) {
    if (entry.now == Presence::unknown) continue;
    ExpectedName& expected_name = names.emplace_back();
    expected_name.name = names_.text(name);
    expected_name.present = entry.now == Presence::present;
    expected_name.changed = entry.changed_at != DirectoryEntry::kNever;
    if (expected_name.present) describe(entry.node, expected_name);
  }
  return names;
}

void FileTree::describe(NodeId id, ExpectedName& to) const {
  const FileNode& node = nodes_[id];
  to.made = node.known().origin() == Origin::made;
  to.file = node.file;
  to.names = node.names;
  if (node.kind_assumed) return;
  to.kind = node.kind;
  // Whether an open created the file, with this mode, may be unknown.
  const bool knows_mode = node.mode != FileNode::kNoMode && node.kind != FileKind::symlink;
  if (knows_mode && node.known().origin() != Origin::perhaps) to.mode = node.mode;
  if (node.kind == FileKind::symlink && !node.text_assumed) to.text = node.text;
  if (node.kind != FileKind::file) return;
  if (node.known().exact() && !node.size_assumed) to.size = node.known().size();
  if (!node.known().exact() && !node.known().guessed()) to.least_size = node.known().size();
  if (node.known().origin() == Origin::perhaps && !to.size) to.size_if_made = node.known().size();
  to.ranges = &node.known().ranges();
}

void TreeModel::State::name_entry(Operation& operation) {
  using enum OperationKind;
  const Field fields = operation_info(operation.kind).fields;
  NodeId id = kNoNode;
  switch (operation.kind) {
    case unmap:
    case sync_map:
    case fault:
      if (const Mapping* known = mapping(operation.source)) id = known->node;
      break;
    case rename:
      id = tree.present(operation.old_path);
      break;
    case link:
      id = operation.file != kNoFile ? of_slot(operation.file) : tree.present(operation.old_path);
      break;
    case make_directory:
    case symlink:
    case make_node:
      break;
    case open:
      if (!is_nameless(operation.flags)) id = tree.present(operation.path);
      break;
    default:
      if (has(fields, Field::file) || (has(fields, Field::target) && operation.file != kNoFile)) {
        id = of_slot(operation.file);
      } else if (has(fields, Field::path) || has(fields, Field::target)) {
        id = tree.present(operation.path);
      }
  }
  operation.entry = id == kNoNode ? kNoFileId : tree.file_id(id);
}

TreeModel::TreeModel(TraceTables& tables) : state_(std::make_unique<State>(tables)) {}
TreeModel::~TreeModel() = default;

void TreeModel::begin_with(const FileSet& initial, PathId at) {
  state_->tree.begin_with(initial, at);
}

void TreeModel::apply(Operation& operation) {
  if (operation.expected >= 0) {
    state_->succeeded(operation);
  } else {
    state_->failed(operation);
    state_->name_entry(operation);
  }
}

TreeModel::Presence TreeModel::presence(PathId path) const {
  return state_->tree.find(path).presence;
}

std::optional<TreeModel::Change> TreeModel::last_change(PathId path) const {
  return state_->tree.last_change(path);
}

bool TreeModel::is_directory(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id != kNoNode && state_->tree.node(id).kind == FileKind::directory;
}

bool TreeModel::is_symlink(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id != kNoNode && state_->tree.node(id).kind == FileKind::symlink;
}

bool TreeModel::holds_only_nodes(PathId path) const {
  const NodeId id = state_->tree.present(path);
  if (id == kNoNode || !state_->tree.node(id).directory) return false;
  bool any = false;
  for (const auto& [name, entry] : state_->tree.node(id).directory->entries) {
    if (entry.now != Presence::present) continue;
    if (state_->tree.node(entry.node).kind != FileKind::special) return false;
    any = true;
  }
  return any;
}

std::optional<TextId> TreeModel::link_text(PathId path) const {
  const NodeId id = state_->tree.present(path);
  if (id == kNoNode) return {};
  const FileNode& node = state_->tree.node(id);
  if (node.kind != FileKind::symlink || node.text == 0) return {};
  return node.text;
}

void TreeModel::learn_link(PathId path, TextId text) {
  state_->learn_text(state_->tree.require(path), text);
}

void TreeModel::assume_link(PathId path, TextId text) {
  const NodeId id = state_->tree.require(path);
  if (id == kNoNode) return;
  FileNode& node = state_->tree.node(id);
  const bool known = node.text != 0 && !node.text_assumed;
  state_->learn_text(id, text);
  node.text_assumed = !known && node.text == text;
}

void TreeModel::learn_hole(FileId file, std::uint64_t offset, std::uint64_t length) {
  const NodeId id = state_->tree.node_of(file);
  if (id == kNoNode) return;
  state_->tree.node(id).change_data([&](FileData& data) { data.learn_hole(offset, length); });
}

void TreeModel::learn_data(FileId file, std::uint64_t offset, std::uint64_t length) {
  const NodeId id = state_->tree.node_of(file);
  if (id == kNoNode) return;
  state_->tree.node(id).change_data([&](FileData& data) { data.was_read(offset, length, length); });
}

void TreeModel::learn_existing(const ExistingFile& found) {
  FileTree& tree = state_->tree;
  const NodeId id = tree.node_of(found.file);
  if (id == kNoNode) return;
  FileNode& node = tree.node(id);
  tree.learn_kind(id, kind_of_mode(found.mode));
  const auto mode = static_cast<std::uint16_t>(found.mode & 0777);
  if (node.mode == FileNode::kNoMode && mode != 0) node.mode = node.initial_mode = mode;
  if (node.kind == FileKind::symlink && found.text != 0) {
    node.text = found.text;
    node.text_assumed = false;
  }
  node.change_data([&](FileData& data) {
    if (found.size && !data.exact()) data.has_size(*found.size);
    for (const Hole& hole : found.holes) data.learn_hole(hole.offset, hole.length);
  });
}

void TreeModel::learn_opened(FileSlot slot, const OpenedFile& opened) {
  state_->expected_open = {slot, opened};
}

FileId TreeModel::file_of(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id == kNoNode ? kNoFileId : state_->tree.file_id(id);
}

FileId TreeModel::file_of_slot(FileSlot slot) const {
  const NodeId id = state_->of_slot(slot);
  return id == kNoNode ? kNoFileId : state_->tree.file_id(id);
}

std::optional<PathId> TreeModel::path_of(FileId file) const {
  return state_->tree.path_of(state_->tree.node_of(file));
}

std::uint64_t TreeModel::size(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id == kNoNode ? 0 : state_->tree.node(id).data.size();
}

bool TreeModel::size_is_exact(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id != kNoNode && state_->tree.node(id).data.exact();
}

bool TreeModel::size_is_assumed(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id != kNoNode && state_->tree.node(id).size_assumed;
}

bool TreeModel::is_initial(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id != kNoNode && state_->tree.node(id).known().origin() == Origin::before;
}

std::uint32_t TreeModel::files() const {
  return state_->tree.files();
}

TraceTrees TreeModel::trees() const {
  TraceTrees trees;
  trees.initial = state_->tree.initial_set();
  trees.absent = state_->tree.absent();
  trees.final = state_->tree.current_set();
  return trees;
}

FileSet TreeModel::current() const {
  return state_->tree.current_set();
}

std::vector<ExpectedDirectory> TreeModel::expected_directories() const {
  return state_->tree.expected_directories();
}

std::vector<ExpectedName> TreeModel::expected_names(std::uint32_t directory) const {
  return state_->tree.expected_names(directory);
}

// Conclusions from operations that failed.

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
