// The problem. A trace shows single names: that one opened, that one was missing. From this follows
// a tree before the trace that makes all results possible. Renames make it hard: a directory that
// is renamed takes names with it of which the trace knows nothing yet. If /a became /b, and /b/x is
// opened later, then /a/x existed before.
//
// So facts are attached to nodes, not to paths. A node is a file, a directory or a link, or a
// placeholder: a directory in which names were looked up before its existence was known. A
// directory has an entry for each name that is known to exist, known to be absent, or unknown. A
// path is looked up entry by entry. What is found later under /b is thus entered in the node that
// was /a, whose initial name did not change.
//
// Invariants:
// - `parent` and `name` of a node are those of now, `initial_parent` and `initial_name` those of
//   before the trace. Renames change only the former.
// - A directory that the trace has created is `closed`: names that it does not list do not exist.
//   In all others they are unknown.
// - `data` is derived from operations alone, since sizes reported while the trace is built must not
//   depend on what the recorder happened to see. `seen` is the same plus that, for the trees.
// - A node without names, users and children is reused, except if it belongs to the initial tree
//   (pinned). by_file_ must not refer to it any more: FileIds are never reused.
// - facts_ caches the node of each PathId. A node that loses or changes its name makes all of the
//   cache invalid by one increment of generation_ (forget), because any path may lead through it.
//
// Cost: a look-up is one hash map per component that is not cached. Renaming a directory costs two
// entries and the cache, whatever is below it.
//
// The tree of files and directories that a trace works on, as far as known, now and before the
// trace.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "traces/model/file_data.h"
#include "traces/model/tree_model.h"

namespace filereel {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;
using NameId = TextId;  // one component of paths

// The kind for the type in st_mode; the closest kind for a device or a pipe.
FileKind kind_of_mode(std::uint32_t mode);

// The known facts about one name in a directory.
struct DirectoryEntry {
  static constexpr std::uint64_t kNever = UINT64_MAX;

  TreeModel::Presence now = TreeModel::Presence::unknown;
  TreeModel::Presence before_change = TreeModel::Presence::unknown;
  bool found_missing = false;         // did not exist before the trace
  NodeId node = kNoNode;              // of an unknown name: placeholder for what may exist
  std::uint64_t changed_at = kNever;  // position in the trace
};

struct Directory {
  std::unordered_map<NameId, DirectoryEntry> entries;
};

// A file, directory or symbolic link. While `exists` is false: a directory in which names were
// looked up before its existence was known.
struct FileNode {
  static constexpr std::uint16_t kNoMode = UINT16_MAX;

  explicit FileNode(Origin origin) : data(origin) {}

  // Calls `change` with each record of the file's bytes.
  template <typename Change>
  void change_data(Change change) {
    change(data);
    if (seen) change(*seen);
  }
  const FileData& known() const { return seen ? *seen : data; }

  FileData data;                   // derived from operations
  std::unique_ptr<FileData> seen;  // the same plus what the trace's source saw; or null
  FileKind kind = FileKind::unknown;
  bool kind_assumed = false;  // little more than a guess: evidence replaces it
  bool exists = false;
  bool given = false;   // part of the tree that the model started with
  bool closed = false;  // a directory: unlisted names do not exist
  bool pinned = false;  // its number is never reused for another file
  bool in_cache = false;
  bool runs = false;         // it can be executed, probably
  bool needs_child = false;  // was found not to be empty while no child was known
  std::uint16_t mode = kNoMode, initial_mode = kNoMode;
  FileId file = kNoFileId;
  std::uint32_t names = 0;    // current number
  std::uint32_t users = 0;    // open files and mappings
  bool text_assumed = false;  // `text` leads to the right place, but may be another one
  bool size_assumed = false;  // a guess after an append: the source did not show the position
  TextId text = 0;            // target of a symbolic link; 0: unknown
  NodeId parent = kNoNode;    // of its most recent name
  NameId name = 0;            // that name
  NodeId initial_parent = kNoNode;
  NameId initial_name = 0;
  std::uint32_t initial_children = 0;      // known so far
  std::uint32_t children_when_needed = 0;  // initial_children when needs_child was set
  std::unique_ptr<Directory> directory;
};

// Names are looked up directory by directory, so that renaming a directory moves everything below
// it, known or not. The node of a PathId is cached until a directory moves.
class FileTree {
 public:
  using Presence = TreeModel::Presence;
  static constexpr std::uint32_t kMaxDepth = 2048;  // components: deeper paths exceed PATH_MAX

  explicit FileTree(TraceTables& tables);
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;

  struct Found {
    Presence presence = Presence::unknown;
    NodeId node = kNoNode;  // of something present; of something unknown: its placeholder
  };
  Found find(PathId path);
  PathId parent(PathId path) const { return tables_.paths.node(path).parent; }
  // The node of something present, otherwise kNoNode.
  NodeId present(PathId path);
  FileNode& node(NodeId id) { return nodes_[id]; }
  // Its FileId; a root gets one on first use.
  FileId file_id(NodeId id);
  NodeId node_of(FileId file) const;
  std::uint32_t files() const { return static_cast<std::uint32_t>(by_file_.size()); }

  void begin_with(const FileSet& initial, PathId at);

  // Returns a node that must exist because an operation succeeded. If nothing was known about it,
  // it has existed since before the trace. kNoNode only for paths that are too deep.
  NodeId require(PathId path, FileKind kind = FileKind::unknown);
  NodeId require_parent(PathId path);
  // The same for something that an operation failed to create because it existed; `kind` is a
  // guess.
  NodeId require_assumed(PathId path, FileKind kind);
  // Evidence replaces guesses; the first evidence stays.
  void learn_kind(NodeId id, FileKind kind);
  void found_missing(PathId path);
  // The node was opened.
  void learn_opened(NodeId id, const TreeModel::OpenedFile& opened);
  void found_not_empty(NodeId id);

  // The trace created something under this name; kNoNode if that is impossible.
  NodeId make(PathId path, FileKind kind, std::uint64_t position);
  NodeId make_nameless();
  // `perhaps` created: keeps what is needed to find out later that it existed before.
  NodeId make_or_open(PathId path, std::uint64_t position);
  // Gives a `perhaps` file its initial name if it turned out to contain bytes.
  void settle(NodeId id);

  void remove(PathId path, FileKind kind, std::uint64_t position);
  void link(NodeId id, PathId path, std::uint64_t position);
  void rename(PathId from, PathId to, std::uint64_t position);
  void exchange(PathId a, PathId b, std::uint64_t position);

  void use(NodeId id) { ++nodes_[id].users; }
  void release(NodeId id);

  std::optional<TreeModel::Change> last_change(PathId path);
  // The current path of a node, by its most recent name; nullopt if it lost that name.
  std::optional<PathId> path_of(NodeId id);

  FileSet initial_set() const;
  FileSet current_set() const;
  std::uint64_t absent() const;  // names that must not exist before the trace
  std::vector<ExpectedDirectory> expected_directories() const;
  std::vector<ExpectedName> expected_names(NodeId directory) const;

 private:
  struct PathFacts {
    NameId name;
    std::uint32_t depth;
    NodeId node;  // valid if `generation` is the tree's
    std::uint32_t generation;
  };
  struct InitialName {
    NodeId parent;
    NameId name;
    NodeId node;
  };
  class SetWriter;

  const PathFacts& facts(PathId path);
  bool too_deep(PathId path) { return facts(path).depth > kMaxDepth; }
  NameId name(PathId path) { return facts(path).name; }
  bool is_root(PathId path) const { return tables_.paths.is_root(path); }
  bool cached(PathId path) { return facts(path).generation == generation_; }
  void cache(PathId path, NodeId id);
  void forget(NodeId id);  // `id` has moved
  // Fills chain_ with `path` and its parents, up to a cached one (known to exist), which is
  // returned.
  PathId climb(PathId path, bool existing);

  NodeId new_node(Origin origin);
  void appear(NodeId id);
  DirectoryEntry& entry(NodeId directory, NameId name);
  Found child(Found directory, NameId name) const;
  NodeId require_child(NodeId directory, NameId name);
  void list_initially(NodeId id, NodeId directory, NameId name);
  void place_initially(NodeId id, NodeId directory, NameId name);
  bool can_be_made(const FileNode& node, FileKind kind) const;
  bool has_children(const FileNode& node) const;
  bool lies_within(NodeId id, NodeId directory) const;
  void attach(NodeId id, NodeId directory, NameId name, DirectoryEntry& entry);
  void detach(DirectoryEntry& entry);
  static void touch(DirectoryEntry& entry, Presence before, std::uint64_t position);
  void drop_if_unused(NodeId id);
  void describe(NodeId id, ExpectedName& to) const;

  TraceTables& tables_;
  TextTable names_;
  std::vector<PathFacts> facts_;  // by PathId
  std::deque<FileNode> nodes_;    // starts with the roots
  std::vector<NodeId> free_nodes_;
  std::vector<NodeId> by_file_;
  std::vector<InitialName> initial_links_;  // further initial names of files
  std::unordered_map<NodeId, std::vector<Hole>> initial_holes_;
  std::vector<PathId> chain_;
  std::uint32_t generation_ = 1;
};

}  // namespace filereel
