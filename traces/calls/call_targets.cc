// What the names that calls give mean: a path, or a file that is open.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>

#include <fcntl.h>
#include <linux/openat2.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

// A path that begins with one of the links that lead to what a process has open.
struct MagicPath {
  int descriptor;         // or SystemCall::kCwd
  std::string_view rest;  // without slashes before it
};

// "/proc/self/fd/7/x", "/proc/self/cwd/x", "/dev/fd/7" and their like.
std::optional<MagicPath> magic_path(std::string_view path, std::uint32_t process) {
  if (!path.starts_with("/proc/") && !path.starts_with("/dev/fd/")) return std::nullopt;
  MagicPath found{SystemCall::kCwd, {}};
  const auto take = [&](std::string_view text) {
    if (!path.starts_with(text)) return false;
    path.remove_prefix(text.size());
    return true;
  };
  if (!take("/dev/")) {
    if (!take("/proc/self/") && !take("/proc/thread-self/") &&
        !take("/proc/" + std::to_string(process) + "/")) {
      return std::nullopt;
    }
  }
  if (take("fd/")) {
    const auto [end, error] =
        std::from_chars(path.data(), path.data() + path.size(), found.descriptor);
    if (error != std::errc{} || found.descriptor < 0) return std::nullopt;
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
  } else if (!take("cwd")) {
    return std::nullopt;
  }
  if (!path.empty() && !path.starts_with('/')) return std::nullopt;
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  found.rest = path;
  return found;
}

// The last component is what the call changes, whatever stands behind it.
bool names_an_entry(Call call) {
  switch (call) {
    case Call::link:
    case Call::mkdir:
    case Call::rmdir:
    case Call::unlink:
    case Call::symlink:
    case Call::rename:
    case Call::mknod:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool CallTranslation::base_of(Task& task, const SystemCall& call, const Name& name, PathId& base) {
  base = task.surroundings->directory;
  if (name.path.starts_with('/')) return true;
  const bool at_cwd = name.dir == SystemCall::kCwd;
  if (at_cwd && moment_) {
    base = *moment_;
    return true;
  }
  if (name.dir_path.starts_with('/')) {
    bool deleted = false;
    base = paths_.real(name.dir_path, deleted);
    // Where threads share it, possible_directories() has said what it is for later calls.
    if (at_cwd && task.surroundings.use_count() == 1) task.surroundings->directory = base;
    return true;
  }
  if (at_cwd) return true;
  if (name.dir < 0) return false;
  const DescriptionRef file =
      find_file(task, call, {name.dir, name.dir_path, name.dir_file}, Use::listing);
  if (!file) return false;
  base = file->path;
  return true;
}

bool CallTranslation::resolve(Task& task, const SystemCall& call, const Name& name, bool follow,
                              PathId& path) {
  static const std::string kNotKnown;
  const bool in_root = (call.resolve & RESOLVE_IN_ROOT) != 0;
  auto magic = in_root ? std::nullopt : magic_path(name.path, task.process->id);
  // The file itself is found by its descriptor, or left out: it may have no name anymore.
  if (magic && magic->rest.empty() && call.call != Call::chdir) magic.reset();
  std::string_view text = magic ? magic->rest : name.path;
  if (in_root) text.remove_prefix(std::min(text.find_first_not_of('/'), text.size()));
  PathId base = 0, root = task.surroundings->root;
  const Name seen = magic ? Name{magic->descriptor, kNotKnown, 0, text}
                          : Name{name.dir, name.dir_path, name.dir_file, text};
  if (!base_of(task, call, seen, base)) return false;
  if (in_root) root = base;
  const bool slash = name.path.ends_with('/');
  if (slash && names_an_entry(call.call)) {
    while (text.ends_with('/')) text.remove_suffix(1);  // what stands there is not followed
  } else if (slash) {
    follow = true;
  }
  path = paths_.resolve(text, {.base = base,
                               .root = root,
                               .follow = follow,
                               .failed = call.result < 0,
                               .look = !task.surroundings->other_mounts});
  if (paths_.is_too_long(path)) {
    too_long_ = true;
    return false;
  }
  // It went on to where nobody knows.
  if (follow && model_.is_symlink(path)) blind_ = true;
  // Operations have no slash at the end of a path, and no links in it, that could make them fail.
  const bool by_slash = slash && call.result < 0 && call.result != -ENOENT &&
                        call.result != -EEXIST && call.call != Call::mkdir &&
                        call.call != Call::rmdir;
  const bool by_links = call.result == -ELOOP && !model_.is_symlink(path);
  if (by_slash || by_links) blind_ = true;
  return true;
}

bool CallTranslation::find_target(Task& task, const SystemCall& call, const Name& name, bool follow,
                                  Target& target) {
  if (name.path.empty() && call.result == -ENOENT) return false;  // names nothing
  std::optional<int> number;
  if (name.path.empty() && name.dir != SystemCall::kCwd) {
    number = name.dir;
  } else if (follow) {
    const auto magic = magic_path(name.path, task.process->id);
    if (magic && magic->rest.empty() && magic->descriptor != SystemCall::kCwd) {
      number = magic->descriptor;
    }
  }
  if (number) {
    const Handle handle = name.path.empty() ? Handle{*number, name.dir_path, name.dir_file}
                                            : Handle{*number, call.fd_path, call.file};
    Description* file = file_of(task, call, handle, Use::other);
    if (!file) return false;
    target.path = model_.path_of(model_.file_of_slot(file->slot)).value_or(file->path);
    // What O_PATH opened is of no use to most calls.
    if (file->flags & O_PATH) return true;
    announce(task, call, *file, Use::reading);
    target.file = file;
    return true;
  }
  if (name.path.empty() && call.result < 0) return false;
  if (!resolve(task, call, name, follow, target.path)) return false;
  if (paths_.is_left_out(target.path)) {
    left_out();
    return false;
  }
  return true;
}

bool CallTranslation::follows(const SystemCall& call) {
  switch (call.call) {
    case Call::open:
      return !(call.flags & O_NOFOLLOW) && (call.flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    case Call::link:
      return (call.flags & AT_SYMLINK_FOLLOW) != 0;
    case Call::readlink:
      return false;
    default:
      return !names_an_entry(call.call) && !(call.flags & AT_SYMLINK_NOFOLLOW);
  }
}

}  // namespace filereel
