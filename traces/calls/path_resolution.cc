// The problem. An operation names a file by its one real path, because a replay follows no symbolic
// links. A program names it by links, `..`, the working directory, a chroot and bind mounts, and
// what a link leads to is often known only later: from a readlink, or from the path that the tracer
// reports for an opened file.
//
// resolve() walks the text name by name, as the kernel does, through the links as they are at that
// moment of the trace. Texts of links are kept on a stack of views, up to 40 links as in Linux;
// they stay valid because TextTable never moves a text. What a name is, follows from the first that
// applies (link_at):
// - a text expected there (expect_link: from a later readlink, or from the real file system, which
//   is asked once per path), but only while the trace has not changed the name. Its first use moves
//   it into the model, so that the initial tree has the link. Outside of the kept directory it
//   stays here: such links lead inside, but are not in the trees.
// - the link that the model knows.
//
// learn() goes the other way. The tracer says that `seen` is in reality `real`. The names that both
// have in common at the end are below the link: /lib/a and /usr/lib/a mean that /lib is one. A path
// that the tracer reported is real in all its components (confirm), so no link is ever assumed
// there. A link in the middle of a path is assumed only if it leads to a place below its own
// directory; otherwise the whole path is the link.
//
// Invariants:
// - A place has one PathId, whichever mount it is reached by: enter() replaces a mount point by the
//   place that is mounted there. ResolvedPath::mount keeps where the program came from, for `..`.
// - A removed directory that is still in use gets a name beside its own that never exists, so that
//   operations in it fail in the replay as they did. Mounts and special files follow renames
//   (renamed()).
// - The members by PathId grow on demand: the path table grows during resolution.
#include "traces/calls/path_resolution.h"

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "traces/calls/system_call.h"

namespace filereel {
namespace {

constexpr std::size_t kMaxLinks = 40;  // as in Linux
constexpr std::size_t kMaxName = 255;  // bytes; builder.path() shortens what is longer
constexpr std::size_t kMaxComponents = 2048, kMaxBytes = 32'000;
constexpr std::string_view kRemoved = ".filereel-removed";

bool starts_with_directory(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace

bool names_file(std::string_view tracer_path) {
  if (!tracer_path.starts_with('/')) return false;
  if (starts_with_directory(tracer_path, "/dev")) {
    return starts_with_directory(tracer_path, "/dev/shm");
  }
  return !starts_with_directory(tracer_path, "/proc") &&
         !starts_with_directory(tracer_path, "/sys") && !tracer_path.starts_with("/memfd:");
}

bool is_special_mode(std::uint32_t mode) {
  return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode) || S_ISBLK(mode);
}

void cut_root(std::string& tracer_path, std::string_view root) {
  if (root.empty() || !tracer_path.starts_with(root)) return;
  if (tracer_path.size() == root.size()) {
    tracer_path = "/";
  } else if (tracer_path[root.size()] == '/') {
    tracer_path.erase(0, root.size());
  }
}

bool is_deleted(std::string_view tracer_path) {
  return tracer_path.ends_with(kRemovedMark);
}

PathId PathResolution::component(PathId parent, std::string_view name) {
  PathTable& paths = builder_.tables().paths;
  if (name.size() <= kMaxName) return paths.add(parent, name);
  const std::string_view shortened = paths.node(builder_.path(name)).name;
  return paths.add(parent, shortened);
}

void PathResolution::bind(std::string_view path, std::string_view same) {
  const PathId point = place_of(builder_.path(path)), place = place_of(builder_.path(same));
  if (!is_below(place, point)) bound_[point] = place;
}

PathId PathResolution::at_mount(PathId path) const {
  if (bound_.empty()) return path;
  const auto found = bound_.find(path);
  return found == bound_.end() ? path : found->second;
}

ResolvedPath PathResolution::reached(PathId path) {
  if (bound_.empty()) return {path};
  PathTable& paths = builder_.tables().paths;
  std::vector<PathId> below;
  for (; !paths.is_root(path); path = paths.node(path).parent) below.push_back(path);
  ResolvedPath at{path};
  for (std::size_t i = below.size(); i-- > 0;) {
    const std::string_view name = paths.node(below[i]).name;
    enter(at, paths.add(at.path, name));
  }
  return at;
}

void PathResolution::enter(ResolvedPath& at, PathId next) const {
  at.path = at_mount(next);
  if (at.path != next) at.mount = next;
}

void PathResolution::leave(ResolvedPath& at) {
  const PathTable& paths = builder_.tables().paths;
  const auto found = at.mount ? bound_.find(*at.mount) : bound_.end();
  if (found != bound_.end() && found->second == at.path) {
    at = {paths.node(*at.mount).parent};
    return;
  }
  // The name by which the program got there is unknown.
  const bool has_two = std::ranges::any_of(bound_, [&](const auto& pair) {
    return pair.second == at.path && paths.node(pair.first).parent != paths.node(at.path).parent;
  });
  if (has_two && !at.mount) {
    builder_.approximated("names of the form .. in directories with two names");
  }
  at.path = paths.node(at.path).parent;
}

ResolvedPath PathResolution::resolve(std::string_view path, const ResolveOptions& question) {
  const TreeModel& model = builder_.model();
  // Texts still to be walked, the innermost link's last.
  std::array<std::string_view, kMaxLinks + 1> rest{};
  std::size_t depth = 1, links = 0;
  rest[0] = path;
  ResolvedPath at = path.starts_with('/') ? ResolvedPath{question.root} : question.base;
  while (depth > 0) {
    std::string_view& text = rest[depth - 1];
    const std::size_t begin = text.find_first_not_of('/');
    if (begin == std::string_view::npos) {
      --depth;
      continue;
    }
    text.remove_prefix(begin);
    const std::string_view name = text.substr(0, text.find('/'));
    text.remove_prefix(name.size());
    if (name == ".") continue;
    if (name == "..") {
      if (question.failed && !is_removed(at.path) &&
          model.presence(at.path) == TreeModel::Presence::absent) {
        return at;
      }
      if (at.path != question.root) leave(at);
      continue;
    }
    ResolvedPath next = at;
    enter(next, component(at.path, name));
    bool last = true;
    for (std::size_t i = 0; i < depth; ++i) last = last && rest[i].empty();
    if ((!last || question.follow) && links < kMaxLinks) {
      if (const auto link = link_at(next.path, question.look)) {
        ++links;
        const std::string& target = builder_.tables().texts.text(*link);
        if (target.starts_with('/')) at = {question.root};
        if (text.empty()) --depth;  // keeps depth at most the number of links
        rest[depth++] = target;
        continue;
      }
    }
    at = next;
  }
  return at;
}

void PathResolution::expect_link(std::string_view path, std::string_view text) {
  expect_link(builder_.path(path), builder_.tables().texts.add(text));
}

void PathResolution::expect_link(PathId link, TextId text) {
  if (is_omitted(link) || builder_.tables().paths.is_root(link)) return;
  if (expected_.size() <= link) expected_.resize(builder_.tables().paths.size());
  // The first text is the one from before the trace.
  if (expected_[link] == 0) expected_[link] = text;
}

void PathResolution::read_existing(PathId path) {
  const PathTable& paths = builder_.tables().paths;
  if (link_checked_.size() <= path) link_checked_.resize(std::size_t{path} + paths.size());
  if (link_checked_[path]) return;
  link_checked_[path] = true;
  if (builder_.model().last_change(path)) return;
  const std::string name = "/" + paths.relative(path);
  if (const std::string text = existing_(name); !text.empty()) expect_link(name, text);
}

std::optional<TextId> PathResolution::link_at(PathId path, bool look) {
  TreeModel& model = builder_.model();
  if (existing_ && look) read_existing(path);
  if (path < expected_.size() && expected_[path] != 0) {
    const bool is_former =
        model.presence(path) != TreeModel::Presence::absent && !model.last_change(path);
    if (is_former && is_outside(path)) return expected_[path];
    const TextId text = std::exchange(expected_[path], 0);
    if (is_former) model.learn_link(path, text);
  }
  return model.link_text(path);
}

ResolvedPath PathResolution::reached(std::string_view absolute, bool& deleted) {
  deleted = is_deleted(absolute);
  if (deleted) absolute.remove_suffix(1);
  const ResolvedPath at = reached(builder_.path(absolute.substr(0, PATH_MAX)));
  if (!deleted) confirm(at.path);
  return at;
}

void PathResolution::confirm(PathId real) {
  const PathTable& paths = builder_.tables().paths;
  if (confirmed_.size() <= real) confirmed_.resize(paths.size());
  for (PathId at = real; !confirmed_[at]; at = paths.node(at).parent) confirmed_[at] = true;
}

bool PathResolution::learn(PathId seen, PathId real) {
  const PathTable& paths = builder_.tables().paths;
  // The trace knows its own changes; the file was renamed before the tracer looked.
  if (builder_.model().last_change(seen)) return false;
  // A link in the middle keeps the names after it. It is assumed only if it leads to a nearby
  // place, as /lib to /usr/lib does. /etc/alternatives/editor is the link itself.
  PathId link = seen, target = real;
  for (PathId from = seen, to = real;;) {
    if (!is_confirmed(from) && !is_below(to, from) && is_below(to, paths.node(from).parent) &&
        !builder_.model().last_change(from)) {
      link = from;
      target = to;
    }
    if (paths.is_root(from) || paths.is_root(to)) break;
    if (paths.node(from).name != paths.node(to).name) break;
    from = paths.node(from).parent;
    to = paths.node(to).parent;
    if (paths.is_root(from)) break;
  }
  if (paths.is_root(link) || is_below(target, link)) return true;
  const TextId text = builder_.tables().texts.add(relative_text(link, target));
  if (is_outside(link)) {
    expect_link(link, text);
  } else {
    builder_.model().assume_link(link, text);
  }
  return true;
}

// The text of a link to `target`. Relative, so that it has the same meaning for a program in a
// chroot.
std::string PathResolution::relative_text(PathId link, PathId target) const {
  const PathTable& paths = builder_.tables().paths;
  std::string up, down;
  PathId common = paths.node(link).parent;
  for (; !is_below(target, common); common = paths.node(common).parent) up += "../";
  for (; target != common; target = paths.node(target).parent) {
    down.insert(0, "/").insert(1, paths.node(target).name);
  }
  if (down.empty()) return up.empty() ? "." : up.substr(0, up.size() - 1);
  return up + down.substr(1);
}

bool PathResolution::is_below(PathId path, PathId ancestor) const {
  const PathTable& paths = builder_.tables().paths;
  while (path != ancestor && !paths.is_root(path)) path = paths.node(path).parent;
  return path == ancestor;
}

PathId PathResolution::moved(PathId path, PathId from, PathId to) {
  PathTable& paths = builder_.tables().paths;
  std::vector<PathId> below;
  for (; path != from; path = paths.node(path).parent) below.push_back(path);
  for (std::size_t i = below.size(); i-- > 0;) {
    const std::string_view name = paths.node(below[i]).name;
    to = paths.add(to, name);
  }
  return to;
}

bool PathResolution::is_too_long(PathId path) {
  const PathTable& paths = builder_.tables().paths;
  while (extents_.size() <= path) {  // a parent has a lower number than its children
    const auto id = static_cast<PathId>(extents_.size());
    Extent extent;
    if (!paths.is_root(id)) {
      const Extent& parent = extents_[paths.node(id).parent];
      const auto length = static_cast<std::uint32_t>(paths.node(id).name.size());
      extent = {parent.components + 1, parent.bytes + length + 1};
    }
    extents_.push_back(extent);
  }
  return extents_[path].components > kMaxComponents || extents_[path].bytes > kMaxBytes;
}

bool PathResolution::is_below_special(PathId path) const {
  if (specials_.empty()) return false;
  const PathTable& paths = builder_.tables().paths;
  while (!paths.is_root(path)) {
    path = paths.node(path).parent;
    if (is_special(path)) return true;
  }
  return false;
}

void PathResolution::renamed(PathId from, PathId to, bool exchange) {
  const auto now = [&](PathId path) {
    return is_below(path, from)             ? moved(path, from, to)
           : exchange && is_below(path, to) ? moved(path, to, from)
                                            : path;
  };
  std::unordered_set<PathId> specials;
  for (const PathId path : specials_) specials.insert(now(path));
  specials_ = std::move(specials);
  std::unordered_map<PathId, PathId> bound;
  for (const auto& [point, same] : bound_) bound[now(point)] = now(same);
  bound_ = std::move(bound);
}

PathId PathResolution::removed(PathId directory) {
  PathTable& paths = builder_.tables().paths;
  if (paths.is_root(directory) || is_in_removed(directory)) return directory;
  any_removed_ = true;
  return paths.add(paths.node(directory).parent, kRemoved);
}

bool PathResolution::is_removed(PathId path) const {
  const PathTable& paths = builder_.tables().paths;
  return any_removed_ && !paths.is_root(path) && paths.node(path).name == kRemoved;
}

bool PathResolution::is_in_removed(PathId path) const {
  if (!any_removed_) return false;
  const PathTable& paths = builder_.tables().paths;
  while (!paths.is_root(path) && !is_removed(path)) path = paths.node(path).parent;
  return is_removed(path);
}

bool PathResolution::is_omitted(PathId path) const {
  const PathTable& paths = builder_.tables().paths;
  PathId second = path;  // the second component, if any
  while (!paths.is_root(path) && !paths.is_root(paths.node(path).parent)) {
    second = path;
    path = paths.node(path).parent;
  }
  if (paths.is_root(path)) return false;
  const std::string_view top = paths.node(path).name;
  if (top == "dev") return second == path || paths.node(second).name != "shm";
  return top == "proc" || top == "sys";
}

}  // namespace filereel
