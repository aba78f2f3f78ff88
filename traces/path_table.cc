#include "traces/path_table.h"

#include <algorithm>
#include <array>
#include <functional>

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

std::size_t PathTable::Hash::operator()(const Key& key) const {
  return std::hash<std::string_view>()(key.name) ^ (key.parent * 0x9e3779b97f4a7c15ULL);
}

PathTable::PathTable() : index_(16, Hash{this}, Equal{this}) {
  nodes_.push_back({root(Role::near), Role::near, {}});
  nodes_.push_back({root(Role::far), Role::far, {}});
}

PathId PathTable::find(PathId parent, std::string_view name) const {
  const auto found = index_.find(Key{parent, name});
  return found == index_.end() ? kNone : *found;
}

PathId PathTable::append(PathId parent, std::string_view name) {
  const auto id = static_cast<PathId>(nodes_.size());
  const auto length = static_cast<std::uint32_t>(nodes_[parent].length + name.size() + 1);
  nodes_.push_back(
      {parent, nodes_[parent].role, std::string(name), kNone, nodes_[parent].first_child, length});
  bytes_ += length;
  nodes_[parent].first_child = id;
  index_.insert(id);
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
    path.insert(0, path.empty() ? nodes_[id].name : nodes_[id].name + "/");
  }
  return path.empty() ? "." : path;
}

}  // namespace filereel
