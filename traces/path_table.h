// Interned paths: operations refer to paths by number, so that the replay builds no strings.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "filesets/system/name_store.h"

namespace filereel {

// The volumes of a run. Paths of a trace are on near or far. Threads of a workload can use any
// volume as near (Trace::volumes).
enum class Role : std::uint8_t { near, far, far_2, far_3, far_4, far_5, far_6, far_7 };
inline constexpr std::size_t kRoles = 8;
inline constexpr std::size_t kRoots = 2;  // roles that paths can have: near and far

std::string_view role_name(Role role);                  // "near", "far", "far-2" …
std::optional<Role> parse_role(std::string_view name);  // nullopt if the name is unknown

using PathId = std::uint32_t;

class PathTable {
 public:
  static constexpr PathId kNone = NumberIndex::kNone;

  struct Node {
    PathId parent;  // a root is its own parent
    Role role;
    // One component, followed by a null byte; empty for a root. Valid as long as the table.
    std::string_view name;
    PathId first_child = kNone;  // the child added last
    PathId next_sibling = kNone;
    std::uint32_t length = 0;  // of the whole path, including a trailing separator; 0 for a root

    const char* c_name() const { return name.data(); }
  };

  PathTable();
  PathTable(const PathTable&) = delete;
  PathTable& operator=(const PathTable&) = delete;
  PathTable(PathTable&&) = delete;
  PathTable& operator=(PathTable&&) = delete;

  // The root of near or far.
  static PathId root(Role role) { return static_cast<PathId>(role); }

  // Interns `path` and its parents. The path is relative to the volume's root and must pass
  // check_path (filesets/file_set.h). An empty path is the root.
  PathId add(Role role, std::string_view path);

  // The same for a path relative to `parent`.
  PathId add_below(PathId parent, std::string_view path);

  // Interns one component below `parent`.
  PathId add(PathId parent, std::string_view name);

  // The number of `name` below `parent`, or kNone.
  PathId find(PathId parent, std::string_view name) const;

  // Always assigns a new number, even to a known path: for readers of tables without duplicates.
  PathId append(PathId parent, std::string_view name);

  // For trees with millions of paths that are never looked up by name: the same, but neither find
  // nor add finds the new path.
  PathId append_unlisted(PathId parent, std::string_view name);
  // The same with the name of the path `like`, which is stored once for both.
  PathId append_unlisted(PathId parent, PathId like);
  void reserve(std::size_t paths) { nodes_.reserve(paths); }

  // `id` must come from this table.
  Node node(PathId id) const;
  PathId parent(PathId id) const { return nodes_[id].parent; }
  std::size_t size() const { return nodes_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // total length of all paths
  bool is_root(PathId id) const { return nodes_[id].parent == id; }

  // The path relative to the volume's root; "." for the root itself.
  std::string relative(PathId id) const;

 private:
  // A node in 24 bytes. The length of the name follows from those of the two paths.
  struct Stored {
    const char* name;
    PathId parent, first_child, next_sibling;
    std::uint32_t length_and_role;  // Node::length, and kFar

    static constexpr std::uint32_t kFar = 1u << 31;
    std::uint32_t length() const { return length_and_role & ~kFar; }
    std::uint32_t role() const { return length_and_role & kFar; }
  };

  // `name` lives as long as the table.
  PathId link(PathId parent, std::string_view name);
  std::string_view name(PathId id) const;

  std::vector<Stored> nodes_;
  NameStore names_;
  std::uint64_t bytes_ = 0;
  NumberIndex index_;
};

// --- Interned texts: targets of symbolic links and names of extended attributes.

using TextId = std::uint32_t;

// Number 0 is the empty text.
class TextTable {
 public:
  TextTable() { append({}); }
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;
  TextTable(TextTable&&) = delete;  // the index points to the texts
  TextTable& operator=(TextTable&&) = delete;

  TextId add(std::string_view text) {
    const auto found = index_.find(text);
    return found != index_.end() ? found->second : append(text);
  }

  // Always assigns a new number, even to a known text: for readers of tables without duplicates.
  TextId append(std::string_view text) {
    texts_.emplace_back(text);
    const auto id = static_cast<TextId>(texts_.size() - 1);
    index_.emplace(texts_.back(), id);
    return id;
  }

  // The number of `text`, if known.
  std::optional<TextId> find(std::string_view text) const {
    const auto found = index_.find(text);
    return found != index_.end() ? std::optional(found->second) : std::nullopt;
  }

  // `id` must be below size().
  const std::string& text(TextId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // never moves its texts, which key the index
  std::unordered_map<std::string_view, TextId> index_;
};

}  // namespace filereel
