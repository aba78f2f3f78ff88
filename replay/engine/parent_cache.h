// Caches descriptors of the directories in which operations happen.
//
// For confinement, the kernel must resolve every path beneath the volume's root. Resolving each
// directory once, and naming its entries by single components, ensures this at no cost per
// operation: a component without a slash cannot leave its directory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <errno.h>
#include <limits.h>

#include "replay/engine/descriptor_limit.h"
#include "traces/path_table.h"

namespace filereel {

// `Calls` is LinuxCalls or NullCalls. Not shared between threads.
template <class Calls>
class ParentCache {
 public:
  // All arguments outlive the cache. `changes` is incremented by any thread when a path may refer
  // to a different directory than before; the cache is cleared then. It holds at most `size`
  // directories, a power of two up to kMostCachedDirectories.
  ParentCache(const PathTable& paths, const std::array<int, kRoots>& roots,
              const std::atomic<std::uint64_t>& changes, std::size_t size = kMostCachedDirectories)
      : paths_(paths), roots_(roots), changes_(changes), mask_(size - 1) {}
  ParentCache(const ParentCache&) = delete;
  ParentCache& operator=(const ParentCache&) = delete;
  ~ParentCache() { forget(); }

  // Returns call(parent's descriptor, last component), or -errno if the parent cannot be opened.
  template <class Call>
  std::int64_t with(PathId path, Call call) noexcept {
    refresh();
    return with_cached(path, call);
  }

  // Returns call(parent, name, second parent, second name), or -errno.
  template <class Call>
  std::int64_t with_both(PathId first, PathId second, Call call) noexcept {
    refresh();
    return with_cached(first, [&](int parent, const char* name) -> std::int64_t {
      const auto call_both = [&](int other, const char* other_name) {
        return call(parent, name, other, other_name);
      };
      const PathTable::Node node = paths_.node(second);
      if (!evicts(node.parent, paths_.parent(first))) return with_cached(second, call_both);
      if (!is_component(node.name)) return -EINVAL;
      const std::int64_t other = open_directory(node.parent);
      if (other < 0) return other;
      const std::int64_t result = call_both(static_cast<int>(other), node.c_name());
      Calls::close(static_cast<int>(other));
      return result;
    });
  }

  // The descriptor of a directory, valid until the next use of the cache, or -errno.
  std::int64_t directory(PathId id) noexcept {
    refresh();
    return cached(id);
  }

  void forget() noexcept {
    for (Slot& slot : slots_) drop(slot);
  }

 private:
  struct Slot {
    PathId path = 0;
    int fd = -1;
  };

  void refresh() noexcept {
    const std::uint64_t changes = changes_.load(std::memory_order_relaxed);
    if (changes == seen_changes_) [[likely]] {
      return;
    }
    forget();
    seen_changes_ = changes;
  }

  template <class Call>
  std::int64_t with_cached(PathId path, Call call) noexcept {
    const PathTable::Node node = paths_.node(path);
    const std::int64_t parent = cached(node.parent);
    if (parent < 0) return parent;
    if (paths_.is_root(path)) return call(static_cast<int>(parent), ".");
    if (!is_component(node.name)) return -EINVAL;
    return call(static_cast<int>(parent), node.c_name());
  }

  std::int64_t cached(PathId id) noexcept {
    if (paths_.is_root(id)) {
      const int root = root_of(paths_.node(id));
      return root < 0 ? -EBADF : root;
    }
    Slot& slot = slots_[id & mask_];
    if (slot.fd < 0 || slot.path != id) {
      drop(slot);
      const std::int64_t fd = open_directory(id);
      if (fd < 0) return fd;
      slot = {id, static_cast<int>(fd)};
    }
    return slot.fd;
  }

  int root_of(const PathTable::Node& node) const {
    return roots_[static_cast<std::size_t>(node.role)];
  }

  // The creator of the table has checked this; it is repeated for confinement.
  static bool is_component(std::string_view name) noexcept {
    return !name.empty() && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos && name != "..";
  }

  // Whether `id` would evict `other`, which is in use, from the cache.
  bool evicts(PathId id, PathId other) const {
    return id != other && (id & mask_) == (other & mask_) && !paths_.is_root(id) &&
           !paths_.is_root(other);
  }

  static void drop(Slot& slot) noexcept {
    if (slot.fd >= 0) Calls::close(std::exchange(slot.fd, -1));
  }

  std::int64_t open_directory(PathId id) noexcept {
    char text[PATH_MAX];
    char* at = text + sizeof text;  // filled from the end, because parents come last
    *--at = '\0';
    const int root = root_of(paths_.node(id));
    for (; !paths_.is_root(id); id = paths_.parent(id)) {
      const std::string_view name = paths_.node(id).name;
      if (!is_component(name)) return -EINVAL;
      if (static_cast<std::size_t>(at - text) < name.size() + 1) return -ENAMETOOLONG;
      if (*at != '\0') *--at = '/';
      at -= name.size();
      std::memcpy(at, name.data(), name.size());
    }
    return Calls::open_beneath(root, at);
  }

  const PathTable& paths_;
  std::array<int, kRoots> roots_;
  const std::atomic<std::uint64_t>& changes_;
  std::size_t mask_;
  std::uint64_t seen_changes_ = 0;
  std::array<Slot, kMostCachedDirectories> slots_;
};

}  // namespace filereel
