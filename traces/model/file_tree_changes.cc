// Changes to the tree by operations.
#include <algorithm>
#include <utility>

#include "traces/model/file_tree.h"

namespace filereel {

void FileTree::touch(DirectoryEntry& entry, Presence before, std::uint64_t position) {
  entry.before_change = before;
  entry.changed_at = position;
}

void FileTree::attach(NodeId id, NodeId directory, NameId name, DirectoryEntry& entry) {
  entry.node = id;
  entry.now = Presence::present;
  nodes_[id].parent = directory;
  nodes_[id].name = name;
  ++nodes_[id].names;
}

// Afterwards the name does not exist.
void FileTree::detach(DirectoryEntry& entry) {
  const NodeId id = std::exchange(entry.node, kNoNode);
  const bool was_present = entry.now == Presence::present;
  entry.now = Presence::absent;
  if (id == kNoNode) return;
  forget(id);
  if (!was_present) return;
  nodes_[id].needs_child = false;
  // Its blocks are freed, which takes time for each.
  if (--nodes_[id].names == 0) nodes_[id].change_data([](FileData& data) { data.use_all(); });
  drop_if_unused(id);
}

void FileTree::release(NodeId id) {
  --nodes_[id].users;
  drop_if_unused(id);
}

bool FileTree::has_children(const FileNode& node) const {
  return node.directory && std::ranges::any_of(node.directory->entries, [](const auto& named) {
           return named.second.node != kNoNode;
         });
}

void FileTree::drop_if_unused(NodeId id) {
  FileNode& node = nodes_[id];
  if (node.names != 0 || node.users != 0 || node.pinned || has_children(node)) return;
  by_file_[node.file] = kNoNode;
  node = FileNode(Origin::made);
  free_nodes_.push_back(id);
}

// Walks up; an impossibly long chain counts as a cycle.
bool FileTree::lies_within(NodeId id, NodeId directory) const {
  for (std::uint32_t steps = 0; steps < 2 * kMaxDepth; ++steps) {
    if (id == directory) return true;
    if (nodes_[id].parent == kNoNode) return false;
    id = nodes_[id].parent;
  }
  return true;
}

// Whether the only evidence of earlier existence comes from calls that saw it exist: they may have
// overlapped the call that created it.
bool FileTree::can_be_made(const FileNode& node, FileKind kind) const {
  return node.data.origin() == Origin::before && !node.given && node.initial_children == 0 &&
         node.data.initial_size() == 0 && node.names == 1 &&
         (node.kind == kind || node.kind == FileKind::unknown || node.kind_assumed);
}

NodeId FileTree::make(PathId path, FileKind kind, std::uint64_t position) {
  if (is_root(path)) return kNoNode;
  const NodeId directory = require_parent(path);
  if (directory == kNoNode) return kNoNode;
  DirectoryEntry& entry = this->entry(directory, name(path));
  const Presence before = entry.now;
  if (before == Presence::present && can_be_made(nodes_[entry.node], kind)) {
    FileNode& node = nodes_[entry.node];
    if (node.initial_parent != kNoNode) --nodes_[node.initial_parent].initial_children;
    node.initial_parent = kNoNode;
    node.data.now_made();
    node.seen.reset();
    node.closed = true;
    node.kind = kind;
    node.kind_assumed = false;
    entry.found_missing = true;
    touch(entry, before, position);
    return entry.node;
  }
  if (before == Presence::unknown) entry.found_missing = true;
  detach(entry);
  const NodeId id = new_node(Origin::made);
  appear(id);
  nodes_[id].kind = kind;
  nodes_[id].closed = true;
  attach(id, directory, name(path), entry);
  touch(entry, before, position);
  return id;
}

NodeId FileTree::make_nameless() {
  const NodeId id = new_node(Origin::made);
  appear(id);
  nodes_[id].kind = FileKind::file;
  return id;
}

NodeId FileTree::make_or_open(PathId path, std::uint64_t position) {
  if (is_root(path)) return kNoNode;
  const NodeId directory = require_parent(path);
  if (directory == kNoNode) return kNoNode;
  const DirectoryEntry& entry = this->entry(directory, name(path));
  const bool perhaps =
      entry.now == Presence::unknown && nodes_[directory].data.origin() == Origin::before;
  if (entry.now == Presence::present) {
    learn_kind(entry.node, FileKind::file);
    return entry.node;
  }
  const NodeId id = make(path, FileKind::file, position);
  if (perhaps) {
    FileNode& node = nodes_[id];
    node.data = FileData(Origin::perhaps);
    node.initial_parent = directory;
    node.initial_name = name(path);
  }
  return id;
}

void FileTree::learn_opened(NodeId id, const TreeModel::OpenedFile& opened) {
  FileNode& node = nodes_[id];
  const Origin origin = node.known().origin();
  if (node.given || origin == Origin::made) return;
  if (!opened.existed) {
    if (origin == Origin::perhaps) node.seen = std::make_unique<FileData>(Origin::made);
    return;
  }
  learn_kind(id, kind_of_mode(opened.mode));
  const auto mode = static_cast<std::uint16_t>(opened.mode & 0777);
  if (node.mode == FileNode::kNoMode && mode != 0) node.mode = node.initial_mode = mode;
  if (origin == Origin::perhaps) {
    node.seen = std::make_unique<FileData>(node.data);
    node.seen->now_before();
    entry(node.initial_parent, node.initial_name).found_missing = false;
    list_initially(id, node.initial_parent, node.initial_name);
  }
  if (node.kind != FileKind::file || !opened.size) return;
  if (!node.seen && !node.data.exact()) node.seen = std::make_unique<FileData>(node.data);
  if (node.seen && !node.seen->exact()) node.seen->has_size(*opened.size);
}

void FileTree::settle(NodeId id) {
  const FileNode& node = nodes_[id];
  // What the source saw is not a guess.
  if (node.data.origin() != Origin::before || node.pinned || node.seen) return;
  entry(node.initial_parent, node.initial_name).found_missing = false;
  place_initially(id, node.initial_parent, node.initial_name);
}

void FileTree::remove(PathId path, FileKind kind, std::uint64_t position) {
  if (is_root(path)) return;
  const Presence before = find(path).presence;
  const NodeId id = require(path, kind);
  if (id == kNoNode) return;
  DirectoryEntry& entry = this->entry(require_parent(path), name(path));
  detach(entry);
  touch(entry, before, position);
}

void FileTree::link(NodeId id, PathId path, std::uint64_t position) {
  if (is_root(path)) return;
  const NodeId directory = require_parent(path);
  if (directory == kNoNode || nodes_[id].kind == FileKind::directory) return;
  DirectoryEntry& entry = this->entry(directory, name(path));
  if (entry.node == id) return;
  const Presence before = entry.now;
  if (before == Presence::unknown) entry.found_missing = true;
  detach(entry);
  attach(id, directory, name(path), entry);
  touch(entry, before, position);
}

void FileTree::rename(PathId from, PathId to, std::uint64_t position) {
  if (is_root(from) || is_root(to) || from == to) return;
  const Presence before_from = find(from).presence;
  const NodeId id = require(from);
  const NodeId to_directory = require_parent(to);
  if (id == kNoNode || to_directory == kNoNode) return;
  const NodeId from_directory = require_parent(from);
  DirectoryEntry& source = entry(from_directory, name(from));
  DirectoryEntry& target = entry(to_directory, name(to));
  const Presence before_to = target.now;
  if (before_to == Presence::present) {
    if (target.node == id || lies_within(from_directory, target.node)) return;
    if (nodes_[target.node].kind == FileKind::directory) learn_kind(id, FileKind::directory);
  }
  if (to_directory != from_directory && lies_within(to_directory, id)) return;
  detach(target);
  source.node = kNoNode;
  source.now = Presence::absent;
  touch(source, before_from, position);
  forget(id);
  target.node = id;
  target.now = Presence::present;
  nodes_[id].parent = to_directory;
  nodes_[id].name = name(to);
  touch(target, before_to, position);
}

void FileTree::exchange(PathId a, PathId b, std::uint64_t position) {
  if (is_root(a) || is_root(b) || a == b) return;
  const Presence before_a = find(a).presence, before_b = find(b).presence;
  const NodeId of_a = require(a), of_b = require(b);
  if (of_a == kNoNode || of_b == kNoNode || of_a == of_b) return;
  const NodeId in_a = require_parent(a), in_b = require_parent(b);
  if (lies_within(in_a, of_b) || lies_within(in_b, of_a)) return;
  DirectoryEntry& entry_a = entry(in_a, name(a));
  DirectoryEntry& entry_b = entry(in_b, name(b));
  std::swap(entry_a.node, entry_b.node);
  nodes_[of_a].parent = in_b;
  nodes_[of_b].parent = in_a;
  nodes_[of_a].name = name(b);
  nodes_[of_b].name = name(a);
  forget(of_a);
  forget(of_b);
  touch(entry_a, before_a, position);
  touch(entry_b, before_b, position);
}

}  // namespace filereel
