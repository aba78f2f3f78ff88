#include "traces/path_table.h"

namespace filereel {

std::string_view role_name(Role role) {
  return role == Role::near ? "near" : "far";
}

PathTable::PathTable() : children_(kRoles) {
  nodes_.push_back({root(Role::near), Role::near, {}});
  nodes_.push_back({root(Role::far), Role::far, {}});
}

PathId PathTable::add(Role role, std::string_view path) {
  PathId at = root(role);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    const auto found = children_[at].find(name);
    if (found != children_[at].end()) {
      at = found->second;
      continue;
    }
    const auto id = static_cast<PathId>(nodes_.size());
    nodes_.push_back({at, role, std::string(name)});
    children_[at].emplace(nodes_.back().name, id);
    children_.emplace_back();
    at = id;
  }
  return at;
}

std::string PathTable::relative(PathId id) const {
  std::string path;
  for (; nodes_[id].parent != id; id = nodes_[id].parent) {
    path.insert(0, path.empty() ? nodes_[id].name : nodes_[id].name + "/");
  }
  return path.empty() ? "." : path;
}

}  // namespace filereel
