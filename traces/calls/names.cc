#include "traces/calls/names.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <linux/openat2.h>

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

bool Names::follows(const SystemCall& call) {
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

std::optional<PathId> Names::base_of(CallContext& context, const GivenName& name) {
  Task& task = context.task;
  if (name.path.starts_with('/')) return task.surroundings->directory;
  const bool at_cwd = name.dir == SystemCall::kCwd;
  if (at_cwd && context.directory) return context.directory;
  if (name.dir_path.starts_with('/')) {
    bool deleted = false;
    const PathId base = paths_.real(name.dir_path, deleted);
    // Where threads share it, CallExplanations has said what it is for later calls.
    if (at_cwd && task.surroundings.use_count() == 1) task.surroundings->directory = base;
    return base;
  }
  if (at_cwd) return task.surroundings->directory;
  if (name.dir < 0) return std::nullopt;
  const DescriptionRef file =
      files_.find(context, {name.dir, name.dir_path, name.dir_file}, FileUse::listing);
  return file ? std::optional(file->path) : std::nullopt;
}

std::optional<PathId> Names::resolve(CallContext& context, const GivenName& name, bool follow) {
  static const std::string kNotKnown;
  const SystemCall& call = context.call;
  const Surroundings& surroundings = *context.task.surroundings;
  const bool in_root = (call.resolve & RESOLVE_IN_ROOT) != 0;
  auto magic = in_root ? std::nullopt : magic_path(name.path, context.task.process->id);
  // The file itself is found by its descriptor, or left out: it may have no name anymore.
  if (magic && magic->rest.empty() && call.call != Call::chdir) magic.reset();
  std::string_view text = magic ? magic->rest : name.path;
  if (in_root) text.remove_prefix(std::min(text.find_first_not_of('/'), text.size()));
  const GivenName seen = magic ? GivenName{magic->descriptor, kNotKnown, 0, text}
                               : GivenName{name.dir, name.dir_path, name.dir_file, text};
  const std::optional<PathId> base = base_of(context, seen);
  if (!base) return std::nullopt;
  const bool slash = name.path.ends_with('/');
  if (slash && names_an_entry(call.call)) {
    while (text.ends_with('/')) text.remove_suffix(1);  // what stands there is not followed
  } else if (slash) {
    follow = true;
  }
  const PathId path = paths_.resolve(text, {.base = *base,
                                            .root = in_root ? *base : surroundings.root,
                                            .follow = follow,
                                            .failed = call.result < 0,
                                            .look = !surroundings.other_mounts});
  if (paths_.is_too_long(path)) {
    context.too_long = true;
    return std::nullopt;
  }
  // It went on to where nobody knows.
  const TreeModel& model = builder_.model();
  if (follow && model.is_symlink(path)) context.blind = true;
  // Operations have no slash at the end of a path, and no links in it, that could make them fail.
  const bool by_slash = slash && call.result < 0 && call.result != -ENOENT &&
                        call.result != -EEXIST && call.call != Call::mkdir &&
                        call.call != Call::rmdir;
  const bool by_links = call.result == -ELOOP && !model.is_symlink(path);
  if (by_slash || by_links) context.blind = true;
  return path;
}

std::optional<NamedFile> Names::find(CallContext& context, const GivenName& name, bool follow) {
  const SystemCall& call = context.call;
  if (name.path.empty() && call.result == -ENOENT) return std::nullopt;  // names nothing
  std::optional<int> number;
  if (name.path.empty() && name.dir != SystemCall::kCwd) {
    number = name.dir;
  } else if (follow) {
    const auto magic = magic_path(name.path, context.task.process->id);
    if (magic && magic->rest.empty() && magic->descriptor != SystemCall::kCwd) {
      number = magic->descriptor;
    }
  }
  if (number) {
    const FileHandle handle = name.path.empty() ? FileHandle{*number, name.dir_path, name.dir_file}
                                                : FileHandle{*number, call.fd_path, call.file};
    Description* file = files_.find_open(context, handle, FileUse::other);
    if (!file) return std::nullopt;
    const TreeModel& model = builder_.model();
    const PathId path = model.path_of(model.file_of_slot(file->slot)).value_or(file->path);
    // What O_PATH opened is of no use to most calls.
    if (file->flags & O_PATH) return NamedFile{path, nullptr};
    files_.announce(context, *file, FileUse::reading);
    return NamedFile{path, file};
  }
  if (name.path.empty() && call.result < 0) return std::nullopt;
  const std::optional<PathId> path = resolve(context, name, follow);
  if (!path) return std::nullopt;
  if (paths_.is_left_out(*path)) {
    leave_out();
    return std::nullopt;
  }
  return NamedFile{*path, nullptr};
}

}  // namespace filereel
