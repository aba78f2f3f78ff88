// From the names that programs use to the paths that operations carry: relative names, "..",
// symbolic links.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "traces/model/trace_builder.h"

namespace filereel {

class PathResolution {
 public:
  // As ResolverOptions::link_at.
  using LinkText = std::function<std::string(const std::string& path)>;

  // `builder` outlives this.
  explicit PathResolution(TraceBuilder& builder, LinkText existing = {})
      : builder_(builder), existing_(std::move(existing)) {}

  struct Question {
    PathId base = 0;      // where a relative path begins
    PathId root = 0;      // the process's root
    bool follow = true;   // the last component, if it is a symbolic link
    bool failed = false;  // the call failed: what is missing may be in the middle
    bool look = true;     // at the links that there are: it sees the mounts that we see
  };
  // The real path of what `path` names, as far as links are known.
  PathId resolve(std::string_view path, const Question& question);

  bool looks() const { return static_cast<bool>(existing_); }

  // The number of an absolute path that the tracer knows to be real. `deleted`: it was unlinked.
  PathId real(std::string_view absolute, bool& deleted);

  // `seen` turned out to be `real`: learns the symbolic link that explains it. False if the trace
  // knows better.
  bool learn(PathId seen, PathId real);

  // See CallResolver.
  void expect_link(std::string_view path, std::string_view text);
  void expect_link(PathId link, TextId text);

  bool is_below(PathId path, PathId ancestor) const;  // or the same
  // `path`, which is at or below `from`, after `from` has become `to`.
  PathId moved(PathId path, PathId from, PathId to);

  // It has more components or bytes than operations may have. No call names such a path, but a
  // program can go there step by step.
  bool is_too_long(PathId path);

  // What lies in or below /proc, /sys and /dev is no file, but /dev/shm is.
  bool is_left_out(PathId path) const;

  // Pipes, sockets and devices in the tree, which are no files.
  bool is_special(PathId path) const { return specials_.contains(path); }
  // Says whether `path` is one from now on; returns whether it was.
  bool set_special(PathId path, bool special) {
    return special ? !specials_.insert(path).second : specials_.erase(path) > 0;
  }

 private:
  PathId component(PathId parent, std::string_view name);
  // The text if `path` is a symbolic link.
  std::optional<TextId> link_at(PathId path, bool look);
  void look_at(PathId path);
  void confirm(PathId real);
  bool is_confirmed(PathId path) const { return path < confirmed_.size() && confirmed_[path]; }

  struct Extent {
    std::uint32_t components = 0, bytes = 0;
  };

  TraceBuilder& builder_;
  std::vector<Extent> extents_;   // by PathId, as far as they were needed
  std::vector<TextId> expected_;  // texts of links, by PathId; 0: none
  LinkText existing_;
  std::vector<bool> looked_at_;  // by PathId: existing_ was asked
  std::vector<bool> confirmed_;  // paths that the tracer gave: no component is a link
  std::unordered_set<PathId> specials_;
};

// What the tracer calls a descriptor's path is a file's: absolute, not below /proc …
bool names_file(std::string_view tracer_path);

// Whether st_mode is that of a pipe, a socket or a device.
bool is_special_mode(std::uint32_t mode);

// Removes `root` from the front of a tracer's path that lies at or below it. `root`: an absolute
// path other than "/", or empty for none.
void cut_root(std::string& tracer_path, std::string_view root);

// Whether the tracer says that what had this path has been unlinked.
bool is_deleted(std::string_view tracer_path);

}  // namespace filereel
