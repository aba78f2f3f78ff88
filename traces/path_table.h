// Interned paths: operations name paths by number, so that replaying builds no strings.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace filereel {

// The volumes of a run. Paths of a trace lie on near or on far; threads of a workload take any of
// them for near (Trace::volumes).
enum class Role : std::uint8_t { near, far, far_2, far_3, far_4, far_5, far_6, far_7 };
inline constexpr std::size_t kRoles = 8;
inline constexpr std::size_t kRoots = 2;  // that paths have: near and far

std::string_view role_name(Role role);                  // "near", "far", "far-2" …
std::optional<Role> parse_role(std::string_view name);  // nothing for names of none

using PathId = std::uint32_t;

class PathTable {
 public:
  static constexpr PathId kNone = UINT32_MAX;

  struct Node {
    PathId parent;  // of a root: itself
    Role role;
    std::string name;            // one component; empty for a root
    PathId first_child = kNone;  // the one that was added last
    PathId next_sibling = kNone;
    std::uint32_t length = 0;  // of the whole path, with a separator at its end; of a root: 0
  };

  PathTable();
  PathTable(const PathTable&) = delete;
  PathTable& operator=(const PathTable&) = delete;
  PathTable(PathTable&&) = delete;  // the index refers to the table
  PathTable& operator=(PathTable&&) = delete;

  // Of near and far.
  static PathId root(Role role) { return static_cast<PathId>(role); }

  // The number of `path`, which is relative to the volume's root and obeys check_path
  // (filesets/file_set.h); its parents are interned too. An empty path is the root.
  PathId add(Role role, std::string_view path);

  // The same for a path that is relative to `parent`.
  PathId add_below(PathId parent, std::string_view path);

  // The number of one more component below `parent`.
  PathId add(PathId parent, std::string_view name);

  // The number of `name` below `parent`, or kNone.
  PathId find(PathId parent, std::string_view name) const;

  // A new number even if the path has one already: for readers of tables that were written once.
  PathId append(PathId parent, std::string_view name);

  // `id` must come from this table.
  const Node& node(PathId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // of all paths, written out
  bool is_root(PathId id) const { return nodes_[id].parent == id; }

  // The whole path below the volume's root, "." for the root itself.
  std::string relative(PathId id) const;

 private:
  struct Key {
    PathId parent;
    std::string_view name;
  };
  Key key(PathId id) const { return {nodes_[id].parent, nodes_[id].name}; }

  // The set holds numbers and is searched by parent and name.
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
