// Interned paths: operations name paths by number, so that replaying builds no strings.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace filereel {

// The volume that a path lies on.
enum class Role : std::uint8_t { near, far };
inline constexpr std::size_t kRoles = 2;

std::string_view role_name(Role role);  // "near", "far"

using PathId = std::uint32_t;

class PathTable {
 public:
  struct Node {
    PathId parent;  // of a root: itself
    Role role;
    std::string name;  // one component; empty for a root
  };

  PathTable();

  static PathId root(Role role) { return static_cast<PathId>(role); }

  // The number of `path`, which is relative to the volume's root and obeys check_path
  // (filesets/file_set.h); its parents are interned too.
  PathId add(Role role, std::string_view path);

  // `id` must come from add() or root().
  const Node& node(PathId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }

  // The whole path below the volume's root, "." for the root itself.
  std::string relative(PathId id) const;

 private:
  std::deque<Node> nodes_;  // a deque: names never move, so that they can key the index
  std::vector<std::unordered_map<std::string_view, PathId>> children_;
};

}  // namespace filereel
