#include "traces/import/simulated_tree.h"

#include <algorithm>
#include <cerrno>
#include <ranges>

#include <fcntl.h>

#include "traces/open_flags.h"

namespace filereel {
namespace {

// Size of a struct linux_dirent64 with this name: 19 bytes before it, a NUL after it, whole words.
constexpr std::uint64_t list_bytes(std::size_t name) {
  return (19 + name + 1 + 7) / 8 * 8;
}
std::string folded(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

constexpr std::uint64_t kEmptyListBytes = list_bytes(1) + list_bytes(2);  // "." and ".."

}  // namespace

SimulatedTree::SimulatedTree(const PathTable& paths) : paths_(paths) {
  nodes_.emplace_back();
  nodes_[kRoot].directory = true;
  nodes_[kRoot].list_bytes = kEmptyListBytes;
  hold(kRoot);
}

SimulatedTree::Found SimulatedTree::find(PathId path) const {
  std::vector<PathId> way;  // from the end
  for (PathId at = path; !paths_.is_root(at); at = paths_.node(at).parent) way.push_back(at);
  Number number = kRoot;
  for (const PathId step : way | std::views::reverse) {
    if (!nodes_[number].directory) return {.error = ENOTDIR};
    const auto child = nodes_[number].children.find(paths_.node(step).name);
    if (child == nodes_[number].children.end()) return {.error = ENOENT};
    number = child->second;
  }
  return {.number = number};
}

bool SimulatedTree::has_in_any_case(Number directory, std::string_view name) const {
  return nodes_[directory].folded.contains(folded(name));
}

SimulatedTree::Found SimulatedTree::parent(PathId path) const {
  const Found found = find(paths_.node(path).parent);
  if (found.error == 0 && !nodes_[found.number].directory) return {.error = ENOTDIR};
  return found;
}

SimulatedTree::Found SimulatedTree::open(PathId path, std::uint32_t flags) {
  const Found found = find(path);
  if (found.error == 0) {
    Node& node = nodes_[found.number];
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
    if (node.directory && writes) return {.error = EISDIR};
    if (!node.directory && (flags & open_flags::kDirectory) != 0) return {.error = ENOTDIR};
    if ((flags & O_TRUNC) != 0) {
      node.size = 0;
      node.assumed = false;
    }
    return found;
  }
  if (found.error != ENOENT || (flags & O_CREAT) == 0) return found;
  const Found directory = parent(path);
  if (directory.error != 0) return directory;
  return {.number = add(directory.number, paths_.node(path).name, false)};
}

int SimulatedTree::make_directory(PathId path) {
  const Found found = find(path);
  if (found.error == 0) return EEXIST;
  const Found directory = parent(path);
  if (directory.error != 0) return directory.error;
  add(directory.number, paths_.node(path).name, true);
  return 0;
}

int SimulatedTree::remove_file(PathId path) {
  const Found found = find(path);
  if (found.error != 0) return found.error;
  if (nodes_[found.number].directory) return EISDIR;
  remove(parent(path).number, paths_.node(path).name);
  return 0;
}

int SimulatedTree::remove_directory(PathId path) {
  const Found found = find(path);
  if (found.error != 0) return found.error;
  if (!nodes_[found.number].directory) return ENOTDIR;
  if (found.number == kRoot) return EBUSY;
  if (!nodes_[found.number].children.empty()) return ENOTEMPTY;
  remove(parent(path).number, paths_.node(path).name);
  return 0;
}

int SimulatedTree::rename(PathId from, PathId to) {
  if (paths_.is_root(from) || paths_.is_root(to)) return EBUSY;
  const Found old = find(from);
  if (old.error != 0) return old.error;
  const Found directory = parent(to);
  if (directory.error != 0) return directory.error;
  for (PathId at = to; !paths_.is_root(at); at = paths_.node(at).parent) {
    if (at == from && at != to) return EINVAL;  // into itself
  }
  const Found target = find(to);
  if (target.error == 0) {
    if (target.number == old.number) return 0;
    const Node& replaced = nodes_[target.number];
    if (replaced.directory && !nodes_[old.number].directory) return EISDIR;
    if (!replaced.directory && nodes_[old.number].directory) return ENOTDIR;
    if (!replaced.children.empty()) return ENOTEMPTY;
    remove(directory.number, paths_.node(to).name);
  }
  hold(old.number);
  remove(parent(from).number, paths_.node(from).name);
  enter(directory.number, paths_.node(to).name, old.number);
  release(old.number);
  return 0;
}

void SimulatedTree::grow(Number file, std::uint64_t size) {
  nodes_[file].size = std::max(nodes_[file].size, size);
}

void SimulatedTree::assume(PathId path, bool directory) {
  nodes_[add(parent(path).number, paths_.node(path).name, directory)].assumed = true;
}

void SimulatedTree::read_to(Number file, std::uint64_t size) {
  if (nodes_[file].assumed && !nodes_[file].directory) grow(file, size);
}

void SimulatedTree::release(Number number) {
  if (--nodes_[number].users > 0) return;
  nodes_[number] = {};
  free_.push_back(number);
}

SimulatedTree::Number SimulatedTree::add(Number directory, std::string_view name,
                                         bool is_directory) {
  Number number = static_cast<Number>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  if (is_directory) {
    nodes_[number].directory = true;
    nodes_[number].list_bytes = kEmptyListBytes;
  }
  enter(directory, name, number);
  return number;
}

void SimulatedTree::enter(Number directory, std::string_view name, Number number) {
  nodes_[directory].children.emplace(std::string(name), number);
  nodes_[directory].folded.insert(folded(name));
  nodes_[directory].list_bytes += list_bytes(name.size());
  hold(number);
}

void SimulatedTree::remove(Number directory, std::string_view name) {
  const auto child = nodes_[directory].children.find(name);
  const Number number = child->second;
  nodes_[directory].children.erase(child);
  nodes_[directory].folded.extract(folded(name));
  nodes_[directory].list_bytes -= list_bytes(name.size());
  release(number);
}

}  // namespace filereel
