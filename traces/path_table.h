// Interned paths: operations refer to paths by number, so that the replay builds no strings.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

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
  static constexpr PathId kNone = UINT32_MAX;

  struct Node {
    PathId parent;  // a root is its own parent
    Role role;
    std::string name;            // one component; empty for a root
    PathId first_child = kNone;  // the child added last
    PathId next_sibling = kNone;
    std::uint32_t length = 0;  // of the whole path, including a trailing separator; 0 for a root
  };

  PathTable();
  PathTable(const PathTable&) = delete;
  PathTable& operator=(const PathTable&) = delete;
  PathTable(PathTable&&) = delete;  // the index points to the table
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

  // `id` must come from this table.
  const Node& node(PathId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // total length of all paths
  bool is_root(PathId id) const { return nodes_[id].parent == id; }

  // The path relative to the volume's root; "." for the root itself.
  std::string relative(PathId id) const;

 private:
  struct Key {
    PathId parent;
    std::string_view name;
  };
  Key key(PathId id) const { return {nodes_[id].parent, nodes_[id].name}; }

  // The set stores numbers; lookups are by parent and name.
  struct Hash {
    using is_transparent = void;
    const PathTable* table;
    std::size_t operator()(const Key& key) const;
    std::size_t operator()(PathId id) const { return (*this)(table->key(id)); }
  };
  struct Equal {
    using is_transparent = void;
    const PathTable* table;
    bool operator()(const auto& a, const auto& b) const {
      const Key left = table_key(a), right = table_key(b);
      return left.parent == right.parent && left.name == right.name;
    }

   private:
    Key table_key(PathId id) const { return table->key(id); }
    Key table_key(const Key& key) const { return key; }
  };

  std::deque<Node> nodes_;
  std::uint64_t bytes_ = 0;
  std::unordered_set<PathId, Hash, Equal> index_;
};

}  // namespace filereel
