// Keeps descriptors of the directories in which operations happen.
//
// Confinement: the kernel must resolve every path beneath the volume's root. Resolving each
// directory once (openat2 with RESOLVE_BENEATH), and naming its entries by single components,
// ensures this for all calls: a component without a slash cannot leave its directory.
//
// Latency: the program passed the whole path, so its own call walked it. With a kept directory, the
// walk is over and costs nothing. It then was a walk through names in the kernel's cache for the
// program, too, and cost it less than 0.1 µs per component. Opening a directory is such a walk and
// a call more. The walk belongs to the latency of the operation, because the program's call would
// have paid for it: it may read several blocks from the drive. The rest is filereel's own:
//
//   own = min(opening, the usual duration of opening a directory without a walk) + closing others
//
// The caller subtracts it from the latency (take_own_ns) and reports the sum. An opening that fails
// stands for the program's call, which would have failed at the same component, and is not own.
//
// Invariants:
// - A kept descriptor is that of the directory that its name refers to now, except for changes
//   since refresh(). Every use starts with refresh().
// - Only names with entries in the trace are kept, because only their changes are announced.
// - A removed directory is not kept by the thread that removes it: its inode would be freed when
//   the descriptor is closed, and not in the program's call (forget).
// - The descriptor used last is never closed by the next lookup, so two can be used at once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <errno.h>
#include <limits.h>

#include "replay/engine/directory_changes.h"
#include "replay/measure/clock.h"
#include "traces/path_table.h"

namespace filereel {

// The usual duration of opening and of nothing else: of a directory that needs no walk.
template <class Calls>
std::uint64_t opening_ns(int root) noexcept {
  constexpr std::size_t kOpenings = 32;
  std::array<std::uint64_t, kOpenings> took;
  for (std::uint64_t& duration : took) {
    const std::uint64_t begin = now_ns();
    const std::int64_t fd = Calls::open_beneath(root, ".");
    duration = now_ns() - begin;
    if (fd < 0) return 0;
    Calls::close(static_cast<int>(fd));
  }
  std::ranges::nth_element(took, took.begin() + kOpenings / 2);
  return took[kOpenings / 2];
}

// `Calls` is LinuxCalls or NullCalls. Not shared between threads. Nothing allocates or throws after
// construction.
template <class Calls>
class ParentCache {
 public:
  // The directories of a set, the one used last first. Directories that programs use in turns are
  // rarely more than four in a set, if they fit the cache at all.
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kFewest = kWays;  // directories

  // All references outlive the cache. It keeps at most `most` directories, or kFewest.
  // `opening_ns`: see above; 0: nothing is subtracted.
  ParentCache(const PathTable& paths, const std::array<int, kRoots>& roots,
              const DirectoryChanges& changes, std::size_t most, std::uint64_t opening_ns)
      : paths_(paths),
        roots_(roots),
        changes_(changes),
        seen_changes_(changes.count()),
        opening_ns_(opening_ns),
        sets_(std::bit_floor(std::max(most, kFewest) / kWays)) {}
  ParentCache(const ParentCache&) = delete;
  ParentCache& operator=(const ParentCache&) = delete;
  ~ParentCache() { close_all(); }

  // Returns call(parent's descriptor, last component), or -errno if the parent cannot be opened.
  template <class Call>
  std::int64_t with(PathId path, Call call) noexcept {
    refresh();
    return with_kept(path, call);
  }

  // Returns call(parent, name, second parent, second name), or -errno.
  template <class Call>
  std::int64_t with_both(PathId first, PathId second, Call call) noexcept {
    refresh();
    return with_kept(first, [&](int parent, const char* name) {
      return with_kept(second, [&](int other, const char* other_name) {
        return call(parent, name, other, other_name);
      });
    });
  }

  // The descriptor of a directory, valid until the next use of the cache, or -errno.
  std::int64_t directory(PathId id) noexcept {
    refresh();
    if (paths_.is_root(id) || has_entries(id)) return kept(id);
    return look_up(id, not_kept_);
  }

  // Closes the descriptor of a directory that is about to be removed or replaced.
  void forget(PathId id) noexcept {
    Set& set = set_of(id);
    const auto place = std::ranges::find(set, id, &Place::path);
    if (place == set.end()) return;
    const std::uint64_t begin = now_ns();
    drop(*place);
    own_ns_ += now_ns() - begin;
  }

  // Closes all descriptors, to make room for others.
  void make_room() noexcept {
    const std::uint64_t begin = now_ns();
    close_all();
    own_ns_ += now_ns() - begin;
  }

  // Returns and resets filereel's own share of the time of lookups.
  std::uint64_t take_own_ns() noexcept { return std::exchange(own_ns_, 0); }

 private:
  struct Place {
    PathId path = PathTable::kNone;
    int fd = -1;
  };
  using Set = std::array<Place, kWays>;

  // Numbers of directories are often equidistant; multiplication spreads them.
  Set& set_of(PathId id) noexcept {
    return sets_[(id * 0x9E3779B97F4A7C15ULL >> 32) & (sets_.size() - 1)];
  }

  bool has_entries(PathId id) const { return paths_.node(id).first_child != PathTable::kNone; }

  void refresh() noexcept {
    const std::uint64_t count = changes_.count();
    if (count == seen_changes_) [[likely]] {
      return;
    }
    const std::uint64_t begin = now_ns();
    drop_changed(count);
    own_ns_ += now_ns() - begin;
  }

  void drop_changed(std::uint64_t count) noexcept {
    const std::uint64_t from = std::exchange(seen_changes_, count);
    if (count - from > DirectoryChanges::kKept) return close_all();
    for (std::uint64_t number = from; number < count; ++number) {
      const auto change = changes_.at(number);
      if (!change) return close_all();
      if (change->below) {
        drop_below(change->path);
      } else {
        for (Place& place : set_of(change->path)) {
          if (place.path == change->path) drop(place);
        }
      }
    }
  }

  // Drops a directory and all below it. A path has a larger number than its parent.
  void drop_below(PathId top) noexcept {
    for (Set& set : sets_) {
      for (Place& place : set) {
        if (place.fd < 0) continue;
        PathId id = place.path;
        while (id > top && !paths_.is_root(id)) id = paths_.parent(id);
        if (id == top) drop(place);
      }
    }
  }

  template <class Call>
  std::int64_t with_kept(PathId path, Call call) noexcept {
    const PathTable::Node node = paths_.node(path);
    const std::int64_t parent = kept(node.parent);
    if (parent < 0) return parent;
    if (paths_.is_root(path)) return call(static_cast<int>(parent), ".");
    if (!is_component(node.name)) return -EINVAL;
    return call(static_cast<int>(parent), node.c_name());
  }

  std::int64_t kept(PathId id) noexcept {
    if (paths_.is_root(id)) {
      const int root = root_of(paths_.node(id));
      return root < 0 ? -EBADF : root;
    }
    Set& set = set_of(id);
    if (set.front().path == id) [[likely]] {
      return set.front().fd;
    }
    auto place = std::ranges::find(set, id, &Place::path);
    if (place == set.end()) {
      place = std::ranges::find(set, PathTable::kNone, &Place::path);
      if (place == set.end()) --place;
      const std::int64_t fd = look_up(id, *place);
      if (fd < 0) return fd;
    }
    std::rotate(set.begin(), place, place + 1);
    return set.front().fd;
  }

  // Opens a directory and keeps it in `place`, instead of another one.
  std::int64_t look_up(PathId id, Place& place) noexcept {
    const std::uint64_t begin = now_ns();
    std::int64_t fd = open_directory(id);
    const std::uint64_t opened = now_ns();
    if (place.fd >= 0 && (fd >= 0 || fd == -EMFILE)) {
      drop(place);
      if (fd == -EMFILE) fd = open_directory(id);
      own_ns_ += now_ns() - opened;
    }
    if (fd < 0) return fd;
    own_ns_ += std::min(opened - begin, opening_ns_);
    place = {id, static_cast<int>(fd)};
    return fd;
  }

  int root_of(const PathTable::Node& node) const {
    return roots_[static_cast<std::size_t>(node.role)];
  }

  // The creator of the table has checked this; it is repeated for confinement.
  static bool is_component(std::string_view name) noexcept {
    return !name.empty() && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos && name != "..";
  }

  void close_all() noexcept {
    for (Set& set : sets_) std::ranges::for_each(set, drop);
    drop(not_kept_);
  }

  static void drop(Place& place) noexcept {
    if (place.fd >= 0) Calls::close(place.fd);
    place = {};
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
  const DirectoryChanges& changes_;
  std::uint64_t seen_changes_;
  std::uint64_t opening_ns_, own_ns_ = 0;
  std::vector<Set> sets_;  // a power of two
  Place not_kept_;
};

}  // namespace filereel
