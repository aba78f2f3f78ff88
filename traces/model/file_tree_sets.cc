// Converts the tree to file sets.
#include <algorithm>
#include <climits>
#include <string>

#include "filesets/file_set.h"
#include "traces/model/file_tree.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMaxBytes = INT64_MAX;  // of all files of a set
constexpr std::string_view kUnknownText = "filereel-unknown";
constexpr std::string_view kFiller = "filereel-filler";

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxComponent && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace

// Writes names, directories before their content. Omits names that no file system accepts, with
// everything below them.
class FileTree::SetWriter {
 public:
  SetWriter(const FileTree& tree, bool initial) : tree_(tree), initial_(initial) {}

  void list(NodeId parent, NameId name, NodeId node) { items_.push_back({parent, name, node}); }

  FileSet write() {
    set_.name = initial_ ? "initial" : "final";
    std::ranges::sort(items_, {}, [&](const InitialName& item) {
      return std::tuple(item.parent, tree_.nodes_[item.node].file, item.name);
    });
    std::vector<Open> open;
    enter(open, tree_.facts_[PathTable::root(Role::near)].node, {});
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.end) {
        open.pop_back();
        continue;
      }
      const InitialName& item = items_[top.next++];
      const std::string& name = tree_.names_.text(item.name);
      if (!is_name(name)) continue;
      std::string path = top.path.empty() ? name : top.path + "/" + name;
      if (path.size() > PATH_MAX) continue;
      add(item.node, path);
      if (tree_.nodes_[item.node].kind == FileKind::directory) {
        enter(open, item.node, std::move(path));
      }
    }
    return std::move(set_);
  }

 private:
  struct Open {
    std::string path;
    std::size_t next, end;  // indexes of items_
  };

  void enter(std::vector<Open>& open, NodeId directory, std::string path) {
    const auto range = std::ranges::equal_range(items_, directory, {}, &InitialName::parent);
    const FileNode& node = tree_.nodes_[directory];
    if (node.needs_child && node.children_when_needed == node.initial_children) {
      Entry filler;
      filler.path = path.empty() ? std::string(kFiller) : path + "/" + std::string(kFiller);
      filler.content.compressed_permille = kTraceCompressedPermille;
      if (filler.path.size() <= PATH_MAX) set_.entries.push_back(filler);
    }
    open.push_back({std::move(path), static_cast<std::size_t>(range.begin() - items_.begin()),
                    static_cast<std::size_t>(range.end() - items_.begin())});
  }

  static Content content(const FileNode& node) {
    Content content;
    content.key = node.file;
    content.compressed_permille = kTraceCompressedPermille;
    return content;
  }

  std::vector<Hole> holes(NodeId id, std::uint64_t size) const {
    const FileNode& node = tree_.nodes_[id];
    const auto given = tree_.initial_holes_.find(id);
    if (given != tree_.initial_holes_.end()) return given->second;
    if (node.given) return {};
    std::vector<Hole> holes = node.known().initial_holes();
    // The size can be less: that of all files is limited.
    std::erase_if(holes, [&](const Hole& hole) { return hole.offset + hole.length > size; });
    return holes;
  }

  void add(NodeId id, const std::string& path) {
    const FileNode& node = tree_.nodes_[id];
    const std::uint16_t mode = initial_ ? node.initial_mode : node.mode;
    Entry entry;
    entry.path = path;
    if (node.kind == FileKind::directory) {
      entry.kind = EntryKind::directory;
      entry.mode = mode == FileNode::kNoMode ? 0755 : mode | 0700u;
    } else if (node.kind == FileKind::symlink) {
      const std::string& text = tree_.tables_.texts.text(node.text);
      const bool usable = !text.empty() && text.size() < PATH_MAX && text.find('\0') == text.npos;
      entry.kind = EntryKind::symlink;
      entry.mode = 0777;
      entry.target = usable ? text : std::string(kUnknownText);
    } else {
      const auto [first, fresh] = first_names_.try_emplace(id, set_.entries.size());
      if (fresh) {
        entry.mode = mode == FileNode::kNoMode ? 0644 : mode | 0600u;
        if (node.runs) entry.mode |= mode == FileNode::kNoMode ? 0111 : 0100;
        entry.content = content(node);
        entry.size = std::min(initial_ ? node.known().initial_size() : node.known().size(),
                              kMaxBytes - bytes_);
        bytes_ += entry.size;
        if (initial_) entry.holes = holes(id, entry.size);
      } else {
        entry.kind = EntryKind::hard_link;
        entry.target = set_.entries.path(first->second);
      }
    }
    set_.entries.push_back(entry);
  }

  const FileTree& tree_;
  bool initial_;
  FileSet set_;
  std::vector<InitialName> items_;
  std::unordered_map<NodeId, std::size_t> first_names_;  // entries of regular files
  std::uint64_t bytes_ = 0;
};

FileSet FileTree::initial_set() const {
  SetWriter writer(*this, true);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const FileNode& node = nodes_[id];
    if (!node.exists || node.known().origin() != Origin::before) continue;
    if (node.initial_parent != kNoNode) writer.list(node.initial_parent, node.initial_name, id);
  }
  for (const InitialName& link : initial_links_) writer.list(link.parent, link.name, link.node);
  return writer.write();
}

FileSet FileTree::current_set() const {
  SetWriter writer(*this, false);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const FileNode& node = nodes_[id];
    if (!node.exists || !node.directory) continue;
    for (const auto& [name, entry] : node.directory->entries) {
      if (entry.now != Presence::present) continue;
      if (nodes_[entry.node].kind == FileKind::special) continue;
      writer.list(id, name, entry.node);
    }
  }
  return writer.write();
}

std::uint64_t FileTree::absent() const {
  std::uint64_t count = 0;
  for (const FileNode& node : nodes_) {
    if (!node.directory || (node.exists && node.data.origin() != Origin::before)) continue;
    for (const auto& [name, entry] : node.directory->entries) count += entry.found_missing ? 1 : 0;
  }
  return count;
}

}  // namespace filereel
