#include "traces/path_table.h"

#include <algorithm>
#include <array>

namespace filereel {

namespace {

constexpr std::array<std::string_view, kRoles> kRoleNames = {"near",  "far",   "far-2", "far-3",
                                                             "far-4", "far-5", "far-6", "far-7"};

}  // namespace

std::string_view role_name(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

std::optional<Role> parse_role(std::string_view name) {
  const auto found = std::ranges::find(kRoleNames, name);
  if (found == kRoleNames.end()) return std::nullopt;
  return static_cast<Role>(found - kRoleNames.begin());
}

PathTable::PathTable() {
  nodes_.push_back({"", root(Role::near), kNone, kNone, 0});
  nodes_.push_back({"", root(Role::far), kNone, kNone, Stored::kFar});
}

PathTable::Node PathTable::node(PathId id) const {
  const Stored& node = nodes_[id];
  return {.parent = node.parent,
          .role = node.role() == 0 ? Role::near : Role::far,
          .name = name(id),
          .first_child = node.first_child,
          .next_sibling = node.next_sibling,
          .length = node.length()};
}

std::string_view PathTable::name(PathId id) const {
  const Stored& node = nodes_[id];
  const std::size_t length = is_root(id) ? 0 : node.length() - nodes_[node.parent].length() - 1;
  return {node.name, length};
}

PathId PathTable::find(PathId parent, std::string_view name) const {
  return index_.find(NumberIndex::hash(parent, name), [&](PathId other) {
    return nodes_[other].parent == parent && this->name(other) == name;
  });
}

PathId PathTable::link(PathId parent, std::string_view name) {
  const auto id = static_cast<PathId>(nodes_.size());
  const auto length = static_cast<std::uint32_t>(nodes_[parent].length() + name.size() + 1);
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): kept names end with a null byte
  nodes_.push_back({name.data(), parent, kNone, nodes_[parent].first_child,
                    (length & ~Stored::kFar) | nodes_[parent].role()});
  bytes_ += length;
  nodes_[parent].first_child = id;
  return id;
}

PathId PathTable::append_unlisted(PathId parent, std::string_view name) {
  return link(parent, {names_.add(name), name.size()});
}

PathId PathTable::append_unlisted(PathId parent, PathId like) {
  return link(parent, name(like));
}

PathId PathTable::append(PathId parent, std::string_view name) {
  const PathId id = append_unlisted(parent, name);
  index_.insert(id, [&](PathId path_id) {
    return NumberIndex::hash(this->parent(path_id), this->name(path_id));
  });
  return id;
}

PathId PathTable::add(PathId parent, std::string_view name) {
  const PathId found = find(parent, name);
  return found != kNone ? found : append(parent, name);
}

PathId PathTable::add(Role role, std::string_view path) {
  return add_below(root(role), path);
}

PathId PathTable::add_below(PathId parent, std::string_view path) {
  PathId at = parent;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    at = add(at, path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return at;
}

std::string PathTable::relative(PathId id) const {
  std::string path;
  for (; !is_root(id); id = nodes_[id].parent) {
    if (!path.empty()) path.insert(0, 1, '/');
    path.insert(0, name(id));
  }
  return path.empty() ? "." : path;
}

}  // namespace filereel
