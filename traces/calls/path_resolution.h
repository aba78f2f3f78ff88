// Resolves names used by programs to the paths of operations: relative names, "..", symbolic links.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "traces/model/trace_builder.h"

namespace filereel {

// A second name of a directory or a file, by a bind mount, and the one that operations get.
struct BoundName {
  std::string mount_point, same;
};

// A resolved path. A directory that is also bind mounted elsewhere has one path, but `..` from it
// leads to where the program came from.
struct ResolvedPath {
  PathId path = 0;
  std::optional<PathId> mount = {};  // the mount point by which a name led to it or above it
};

class PathResolution {
 public:
  // As ResolverOptions::link_at.
  using LinkText = std::function<std::string(const std::string& path)>;

  // `builder` outlives this. `bound`, `under`: see ResolverOptions.
  explicit PathResolution(TraceBuilder& builder, LinkText existing = {},
                          const std::vector<BoundName>& bound = {}, std::string_view under = {})
      : builder_(builder), existing_(std::move(existing)) {
    for (const BoundName& name : bound) bind(name.mount_point, name.same);
    if (!under.empty()) under_ = place_of(builder.path(under));
  }

  // The directory that the trace is limited to. Links outside of it lead into it, but are not in
  // its trees.
  const std::optional<PathId>& under() const { return under_; }

  struct ResolveOptions {
    ResolvedPath base;    // base of a relative path
    PathId root = 0;      // the process's root
    bool follow = true;   // the last component, if it is a symbolic link
    bool failed = false;  // the call failed: a component in the middle may be missing
    bool look = true;     // read existing links: the program is in our mount namespace
  };
  // The real path of `path`, as far as links are known.
  ResolvedPath resolve(std::string_view path, const ResolveOptions& question);

  // The one name of an absolute path without links.
  PathId place_of(PathId path) { return reached(path).path; }
  ResolvedPath reached(PathId path);

  bool reads_links() const { return static_cast<bool>(existing_); }

  // The number of an absolute path that the tracer knows to be real. `deleted`: it was unlinked.
  PathId real(std::string_view absolute, bool& deleted) { return reached(absolute, deleted).path; }
  ResolvedPath reached(std::string_view absolute, bool& deleted);

  // `seen` turned out to be `real`: records the symbolic link that explains it. False if the trace
  // shows otherwise.
  bool learn(PathId seen, PathId real);

  // See CallResolver.
  void expect_link(std::string_view path, std::string_view text);
  void expect_link(PathId link, TextId text);

  bool is_below(PathId path, PathId ancestor) const;  // or the same
  // `path`, which is at or below `from`, after `from` was renamed to `to`.
  PathId moved(PathId path, PathId from, PathId to);

  // The path has more components or bytes than operations can have. No call names such a path, but
  // a program can reach it step by step.
  bool is_too_long(PathId path);

  // Everything in or below /proc, /sys and /dev except /dev/shm is not a file.
  bool is_omitted(PathId path) const;

  // A directory that was removed while processes work in it or have it open: a name beside its own
  // that never exists, so that names in it are missing in a replay, too. Another directory may get
  // its name.
  PathId removed(PathId directory);
  bool is_removed(PathId path) const;     // it is one
  bool is_in_removed(PathId path) const;  // or below one

  // Pipes, sockets and devices in the tree, which are not files.
  bool is_special(PathId path) const { return specials_.contains(path); }
  bool is_below_special(PathId path) const;
  // `from` was renamed to `to`, or exchanged with it.
  void renamed(PathId from, PathId to, bool exchange);
  // Sets whether `path` is special; returns whether it was.
  bool set_special(PathId path, bool special) {
    return special ? !specials_.insert(path).second : specials_.erase(path) > 0;
  }

 private:
  void bind(std::string_view path, std::string_view same);
  PathId at_mount(PathId path) const;
  // Steps to `next`, a name in the directory, and through a mount there; to the parent directory.
  void enter(ResolvedPath& at, PathId next) const;
  void leave(ResolvedPath& at);
  PathId component(PathId parent, std::string_view name);
  bool is_outside(PathId path) const { return under_ && !is_below(path, *under_); }
  std::string relative_text(PathId link, PathId target) const;
  // The target if `path` is a symbolic link.
  std::optional<TextId> link_at(PathId path, bool look);
  void read_existing(PathId path);
  void confirm(PathId real);
  bool is_confirmed(PathId path) const { return path < confirmed_.size() && confirmed_[path]; }

  struct Extent {
    std::uint32_t components = 0, bytes = 0;
  };

  TraceBuilder& builder_;
  std::vector<Extent> extents_;  // by PathId, as far as needed
  // Targets of links, by PathId, which the model does not know yet, or which are outside; 0: none.
  std::vector<TextId> expected_;
  LinkText existing_;
  std::optional<PathId> under_;
  std::vector<bool> link_checked_;  // by PathId: existing_ was called
  std::vector<bool> confirmed_;     // paths reported by the tracer: no component is a link
  std::unordered_set<PathId> specials_;
  std::unordered_map<PathId, PathId> bound_;  // mount points of bind mounts
  bool any_removed_ = false;
};

// Whether the tracer's path of a descriptor is that of a file: absolute, not below /proc …
bool names_file(std::string_view tracer_path);

// Whether st_mode denotes a pipe, a socket or a device.
bool is_special_mode(std::uint32_t mode);

// Removes the prefix `root` from a tracer's path at or below it. `root`: an absolute path other
// than "/", or empty for none.
void cut_root(std::string& tracer_path, std::string_view root);

// Whether the tracer marks this path as unlinked.
bool is_deleted(std::string_view tracer_path);

}  // namespace filereel
