// Open descriptors of the directories that operations happen in.
//
// Confinement needs the kernel to resolve every path beneath the volume's root. Doing so once per
// directory, and naming what lies in it by a single component, keeps that promise at no cost per
// operation: a component without a slash cannot leave its directory.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include <errno.h>
#include <limits.h>

#include "traces/path_table.h"

namespace filereel {

// `Calls` is one of replay/engine/system_calls.h. Not shared between threads.
template <class Calls>
class ParentCache {
 public:
  // `paths` and the descriptors in `roots` outlive the cache.
  ParentCache(const PathTable& paths, const std::array<int, kRoles>& roots)
      : paths_(paths), roots_(roots) {}
  ParentCache(const ParentCache&) = delete;
  ParentCache& operator=(const ParentCache&) = delete;
  ~ParentCache() { forget(); }

  // Returns call(parent's descriptor, last component), or -errno if the parent cannot be opened.
  template <class Call>
  std::int64_t with(PathId path, Call call) noexcept {
    const PathTable::Node& node = paths_.node(path);
    if (is_root(node.parent)) return call(root_of(node), node.name.c_str());
    Slot& slot = slots_[node.parent % kSlots];
    if (slot.fd < 0 || slot.path != node.parent) {
      const std::int64_t fd = open_directory(node.parent);
      if (fd < 0) return fd;
      drop(slot);
      slot = {node.parent, static_cast<int>(fd)};
    }
    return call(slot.fd, node.name.c_str());
  }

  // The same past the cache: for a second path of one operation, which must not evict the first.
  template <class Call>
  std::int64_t with_second(PathId path, Call call) noexcept {
    const PathTable::Node& node = paths_.node(path);
    if (is_root(node.parent)) return call(root_of(node), node.name.c_str());
    const std::int64_t fd = open_directory(node.parent);
    if (fd < 0) return fd;
    const std::int64_t result = call(static_cast<int>(fd), node.name.c_str());
    Calls::close(static_cast<int>(fd));
    return result;
  }

  // To be called when a path may come to name another directory than before.
  void forget() noexcept {
    for (Slot& slot : slots_) drop(slot);
  }

 private:
  struct Slot {
    PathId path = 0;
    int fd = -1;
  };
  static constexpr std::size_t kSlots = 32;

  bool is_root(PathId id) const { return paths_.node(id).parent == id; }
  int root_of(const PathTable::Node& node) const {
    return roots_[static_cast<std::size_t>(node.role)];
  }

  static void drop(Slot& slot) noexcept {
    if (slot.fd >= 0) Calls::close(std::exchange(slot.fd, -1));
  }

  std::int64_t open_directory(PathId id) noexcept {
    char text[PATH_MAX];
    char* at = text + sizeof text;  // written from its end, as the parents come last
    *--at = '\0';
    const int root = root_of(paths_.node(id));
    for (; !is_root(id); id = paths_.node(id).parent) {
      const auto& name = paths_.node(id).name;
      if (static_cast<std::size_t>(at - text) < name.size() + 1) return -ENAMETOOLONG;
      if (*at != '\0') *--at = '/';
      at -= name.size();
      std::memcpy(at, name.data(), name.size());
    }
    return Calls::open_beneath(root, at);
  }

  const PathTable& paths_;
  std::array<int, kRoles> roots_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace filereel
