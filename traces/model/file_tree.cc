#include "traces/model/file_tree.h"

#include <algorithm>

namespace filereel {
FileTree::FileTree(TraceTables& tables) : tables_(tables) {
  for (const Role role : {Role::near, Role::far}) {
    const NodeId root = new_node(Origin::before);
    FileNode& node = nodes_[root];
    node.kind = FileKind::directory;
    node.exists = node.given = node.pinned = true;
    node.names = 1;
    facts_.push_back({0, 0, PathTable::root(role), generation_});
  }
}

const FileTree::PathFacts& FileTree::facts(PathId path) {
  while (facts_.size() <= path) {
    const auto id = static_cast<PathId>(facts_.size());
    const PathTable::Node node = tables_.paths.node(id);
    facts_.push_back({names_.add(node.name), facts_[node.parent].depth + 1, kNoNode, 0});
  }
  return facts_[path];
}

void FileTree::cache(PathId path, NodeId id) {
  facts_[path].node = id;
  facts_[path].generation = generation_;
  nodes_[id].in_cache = true;
}

void FileTree::forget(NodeId id) {
  if (!nodes_[id].in_cache) return;
  nodes_[id].in_cache = false;
  ++generation_;
  for (const Role role : {Role::near, Role::far}) {
    facts_[PathTable::root(role)].generation = generation_;
  }
}

PathId FileTree::climb(PathId path, bool existing) {
  const auto known = [&] {
    return cached(path) && (!existing || nodes_[facts_[path].node].exists);
  };
  for (chain_.clear(); !known(); path = parent(path)) chain_.push_back(path);
  return path;
}

NodeId FileTree::new_node(Origin origin) {
  if (free_nodes_.empty()) {
    nodes_.emplace_back(origin);
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  const NodeId id = free_nodes_.back();
  free_nodes_.pop_back();
  nodes_[id] = FileNode(origin);
  return id;
}

void FileTree::appear(NodeId id) {
  nodes_[id].exists = true;
  nodes_[id].file = files();
  by_file_.push_back(id);
}

FileId FileTree::file_id(NodeId id) {
  if (nodes_[id].file == kNoFileId) appear(id);
  return nodes_[id].file;
}

NodeId FileTree::node_of(FileId file) const {
  return file < by_file_.size() ? by_file_[file] : kNoNode;
}

DirectoryEntry& FileTree::entry(NodeId directory, NameId name) {
  FileNode& node = nodes_[directory];
  if (!node.directory) node.directory = std::make_unique<Directory>();
  const auto [at, fresh] = node.directory->entries.try_emplace(name);
  if (fresh && node.closed) at->second.now = Presence::absent;
  return at->second;
}

FileTree::Found FileTree::child(Found directory, NameId name) const {
  if (directory.presence == Presence::absent) return {Presence::absent, kNoNode};
  if (directory.node == kNoNode) return {Presence::unknown, kNoNode};
  const FileNode& node = nodes_[directory.node];
  const auto unlisted = [&]() -> Found {
    const bool can_hold =
        node.kind == FileKind::unknown || node.kind == FileKind::directory || node.kind_assumed;
    return {node.closed || !can_hold ? Presence::absent : Presence::unknown, kNoNode};
  };
  if (!node.directory) return unlisted();
  const auto found = node.directory->entries.find(name);
  if (found == node.directory->entries.end()) return unlisted();
  return {found->second.now, found->second.node};
}

FileTree::Found FileTree::find(PathId path) {
  if (too_deep(path)) return {};
  if (is_root(path)) return {Presence::present, facts_[path].node};
  const PathId known = climb(parent(path), false);
  Found found;
  found.node = facts_[known].node;
  found.presence = nodes_[found.node].exists ? Presence::present : Presence::unknown;
  for (std::size_t i = chain_.size(); i-- > 0;) {
    found = child(found, facts_[chain_[i]].name);
    if (found.node == kNoNode) return {found.presence, kNoNode};
    cache(chain_[i], found.node);
  }
  return child(found, facts_[path].name);
}

NodeId FileTree::present(PathId path) {
  const Found found = find(path);
  return found.presence == Presence::present ? found.node : kNoNode;
}

void FileTree::learn_kind(NodeId id, FileKind kind) {
  if (id == kNoNode || kind == FileKind::unknown) return;
  FileNode& node = nodes_[id];
  if (node.kind != FileKind::unknown && !node.kind_assumed) return;
  node.kind = kind;
  node.kind_assumed = false;
}

void FileTree::list_initially(NodeId id, NodeId directory, NameId name) {
  FileNode& node = nodes_[id];
  node.initial_parent = directory;
  node.initial_name = name;
  node.pinned = true;
  ++nodes_[directory].initial_children;
}

void FileTree::place_initially(NodeId id, NodeId directory, NameId name) {
  list_initially(id, directory, name);
  nodes_[id].data.now_before();
}

NodeId FileTree::require_child(NodeId directory, NameId name) {
  DirectoryEntry& entry = this->entry(directory, name);
  if (entry.now == Presence::present) return entry.node;
  // A name that was found missing and exists nevertheless was created by something the trace does
  // not show. The closest assumption is that it existed from the start.
  const bool unseen = entry.now == Presence::absent && entry.changed_at == DirectoryEntry::kNever;
  const bool initial = nodes_[directory].data.origin() == Origin::before &&
                       (entry.now == Presence::unknown || unseen);
  if (entry.node == kNoNode) entry.node = new_node(Origin::made);
  const NodeId id = entry.node;
  appear(id);
  if (initial) {
    place_initially(id, directory, name);
    entry.found_missing = false;
  } else {
    nodes_[id].closed = true;
  }
  entry.now = Presence::present;
  nodes_[id].parent = directory;
  nodes_[id].name = name;
  nodes_[id].names = 1;
  return id;
}

NodeId FileTree::require(PathId path, FileKind kind) {
  if (too_deep(path)) return kNoNode;
  if (is_root(path)) return facts_[path].node;
  NodeId at = require_parent(path);
  at = require_child(at, facts_[path].name);
  learn_kind(at, kind);
  return at;
}

NodeId FileTree::require_parent(PathId path) {
  if (too_deep(path)) return kNoNode;
  NodeId at = facts_[climb(parent(path), true)].node;
  learn_kind(at, FileKind::directory);
  for (std::size_t i = chain_.size(); i-- > 0;) {
    at = require_child(at, facts_[chain_[i]].name);
    learn_kind(at, FileKind::directory);
    cache(chain_[i], at);
  }
  return at;
}

NodeId FileTree::require_assumed(PathId path, FileKind kind) {
  const NodeId id = require(path);
  if (id != kNoNode && nodes_[id].kind == FileKind::unknown) {
    nodes_[id].kind = kind;
    nodes_[id].kind_assumed = true;
  }
  return id;
}

void FileTree::found_missing(PathId path) {
  if (is_root(path) || find(path).presence != Presence::unknown || too_deep(path)) return;
  NodeId at = facts_[climb(parent(path), false)].node;
  // Otherwise the error would have been ENOTDIR.
  if (nodes_[at].exists) learn_kind(at, FileKind::directory);
  for (std::size_t i = chain_.size(); i-- > 0;) {
    DirectoryEntry& entry = this->entry(at, facts_[chain_[i]].name);
    if (entry.node == kNoNode) entry.node = new_node(Origin::made);
    at = entry.node;
    cache(chain_[i], at);
  }
  DirectoryEntry& entry = this->entry(at, facts_[path].name);
  if (entry.node != kNoNode) forget(entry.node);
  entry.node = kNoNode;
  entry.now = Presence::absent;
  entry.found_missing = true;
}

void FileTree::found_not_empty(NodeId id) {
  FileNode& node = nodes_[id];
  if (node.closed || node.data.origin() != Origin::before || node.needs_child) return;
  if (node.directory) {
    for (const auto& [name, entry] : node.directory->entries) {
      if (entry.now == Presence::present) return;
    }
  }
  node.needs_child = true;
  node.children_when_needed = node.initial_children;
}

void FileTree::begin_with(const FileSet& initial, PathId at) {
  if (!is_root(at)) require(at, FileKind::directory);
  for (const Entry& given : initial.entries) {
    const PathId path = tables_.paths.add_below(at, given.path);
    if (given.kind == EntryKind::hard_link) {
      const NodeId target = present(tables_.paths.add_below(at, given.target));
      const NodeId directory = require_parent(path);
      if (target == kNoNode || directory == kNoNode) continue;
      attach(target, directory, name(path), entry(directory, name(path)));
      initial_links_.push_back({directory, name(path), target});
      continue;
    }
    const NodeId id = require(path);
    if (id == kNoNode) continue;
    FileNode& node = nodes_[id];
    node.given = true;
    node.mode = node.initial_mode = static_cast<std::uint16_t>(given.mode & 0777);
    switch (given.kind) {
      case EntryKind::directory:
        node.kind = FileKind::directory;
        break;
      case EntryKind::symlink:
        node.kind = FileKind::symlink;
        node.text = tables_.texts.add(given.target);
        break;
      default:
        node.kind = FileKind::file;
        node.data.begin_with(given.size);
        for (const Hole& hole : given.holes) node.data.store(hole.offset, hole.length);
        if (!given.holes.empty()) initial_holes_[id] = given.holes;
    }
  }
}

std::optional<TreeModel::Change> FileTree::last_change(PathId path) {
  if (too_deep(path)) return {};
  chain_.clear();
  for (; !is_root(path); path = parent(path)) chain_.push_back(path);
  std::optional<TreeModel::Change> last;
  Found at{Presence::present, facts_[path].node};
  for (std::size_t i = chain_.size(); i-- > 0 && at.node != kNoNode;) {
    const NameId name = facts_[chain_[i]].name;
    const FileNode& node = nodes_[at.node];
    if (node.directory) {
      const auto found = node.directory->entries.find(name);
      if (found != node.directory->entries.end()) {
        const DirectoryEntry& entry = found->second;
        if (entry.changed_at != DirectoryEntry::kNever &&
            (!last || entry.changed_at >= last->position)) {
          const bool known = i == 0 || entry.before_change == Presence::absent;
          last = {entry.changed_at, known ? entry.before_change : Presence::unknown};
        }
      }
    }
    at = child(at, name);
  }
  return last;
}

std::optional<PathId> FileTree::path_of(NodeId id) {
  std::vector<NameId> names;
  for (; id != kNoNode && nodes_[id].parent != kNoNode; id = nodes_[id].parent) {
    const FileNode& node = nodes_[id];
    const auto& parent = nodes_[node.parent].directory;
    if (!parent || names.size() > kMaxDepth) return {};  // it no longer exists
    const auto found = parent->entries.find(node.name);
    if (found == parent->entries.end() || found->second.node != id) return {};
    names.push_back(node.name);
  }
  if (id == kNoNode || !nodes_[id].given) return {};  // without a name from the start
  PathId path = PathTable::root(Role::near);
  for (std::size_t i = names.size(); i-- > 0;)
    path = tables_.paths.add(path, names_.text(names[i]));
  return path;
}

}  // namespace filereel
