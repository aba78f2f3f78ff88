#include "traces/model/expected_tree.h"

#include <utility>
#include <vector>

#include "traces/model/file_tree.h"

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
    ExpectedName& one = names.emplace_back();
    one.name = names_.text(name);
    one.present = entry.now == Presence::present;
    one.changed = entry.changed_at != DirectoryEntry::kNever;
    if (one.present) describe(entry.node, one);
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

}  // namespace filereel
