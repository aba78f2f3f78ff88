#include "traces/calls/names.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <unordered_set>

#include <fcntl.h>
#include <linux/openat2.h>

#include "filesets/system/numbers.h"
#include "filesets/system/search.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

// A path that starts with a link to something the process has open.
struct MagicPath {
  int descriptor;         // or SystemCall::kCwd
  std::string_view rest;  // without leading slashes
};

// "/proc/self/fd/7/x", "/proc/self/cwd/x", "/dev/fd/7" and similar.
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
    if (!take_number(path, found.descriptor) || found.descriptor < 0) return std::nullopt;
  } else if (!take("cwd")) {
    return std::nullopt;
  }
  if (!path.empty() && !path.starts_with('/')) return std::nullopt;
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  found.rest = path;
  return found;
}

}  // namespace

NameEffect effect_on_names(Call call) {
  switch (call) {
    case Call::open:  // its flags may be unknown until it returns
    case Call::mkdir:
    case Call::symlink:
    case Call::mknod:
    case Call::link:
      return NameEffect::makes;
    case Call::unlink:
    case Call::rmdir:
      return NameEffect::removes;
    case Call::rename:
      return NameEffect::moves;
    default:
      return NameEffect::none;
  }
}

bool names_an_entry(Call call) {
  return call != Call::open && effect_on_names(call) != NameEffect::none;
}

bool follows_link(const SystemCall& call) {
  switch (call.call) {
    case Call::open:
      return !(call.flags & open_flags::kNoFollow) &&
             (call.flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    case Call::link:
      return (call.flags & AT_SYMLINK_FOLLOW) != 0;
    case Call::readlink:
      return false;
    default:
      return !names_an_entry(call.call) && !(call.flags & AT_SYMLINK_NOFOLLOW);
  }
}

std::optional<PathId> base_of_name(CallParts& parts, CallContext& context, const GivenName& name) {
  Task& task = context.task;
  if (name.path.starts_with('/')) return task.fs_state->directory;
  const bool at_cwd = name.dir.descriptor == SystemCall::kCwd;
  context.mount.reset();
  if (at_cwd && context.directory) return context.directory;
  if (name.dir.path.starts_with('/')) {
    bool deleted = false;
    const ResolvedPath there = parts.paths.reached(name.dir.path, deleted);
    const PathId base = deleted ? parts.paths.removed(there.path) : there.path;
    context.mount = there.mount;
    // If threads share it, choose_directory() has set it for later calls.
    if (at_cwd && task.fs_state.use_count() == 1) {
      task.fs_state->directory = base;
      task.fs_state->mount = there.mount;
    }
    return base;
  }
  if (at_cwd) {
    context.mount = task.fs_state->mount;
    return task.fs_state->directory;
  }
  if (name.dir.descriptor < 0) return std::nullopt;
  const DescriptionRef file = parts.files.find(context, name.dir, FileUse::listing);
  return file ? std::optional(file->path) : std::nullopt;
}

std::optional<PathId> resolve_name(CallParts& parts, CallContext& context, const GivenName& name,
                                   bool follow) {
  static const std::string kNotKnown;
  const SystemCall& call = context.call;
  if (call.path_is_real && name.path.starts_with('/')) {
    bool deleted = false;
    return parts.paths.real(name.path, deleted);
  }
  const FsState& fs_state = *context.task.fs_state;
  const bool in_root = (call.resolve & RESOLVE_IN_ROOT) != 0;
  auto magic = in_root ? std::nullopt : magic_path(name.path, context.task.process->id);
  // The file itself is found by its descriptor or omitted: it may no longer have a name.
  if (magic && magic->rest.empty() && call.call != Call::chdir) magic.reset();
  std::string_view text = magic ? magic->rest : name.path;
  if (in_root) text.remove_prefix(std::min(text.find_first_not_of('/'), text.size()));
  const FileHandle dir = magic ? FileHandle{magic->descriptor, kNotKnown, 0} : name.dir;
  const std::optional<PathId> base = base_of_name(parts, context, {dir, text});
  if (!base) return std::nullopt;
  const bool slash = name.path.ends_with('/');
  if (slash && names_an_entry(call.call)) {
    while (text.ends_with('/')) text.remove_suffix(1);  // the last component is not followed
  } else if (slash) {
    follow = true;
  }
  const auto [path, mount] = parts.paths.resolve(text, {.base = {*base, context.mount},
                                                        .root = in_root ? *base : fs_state.root,
                                                        .follow = follow,
                                                        .failed = call.result < 0,
                                                        .look = !fs_state.other_mounts});
  context.mount = mount;
  if (parts.paths.is_too_long(path)) {
    context.too_long = true;
    return std::nullopt;
  }
  // The link led to an unknown place.
  if (follow && parts.model.is_symlink(path)) context.unknown_link = true;
  // Operations have no trailing slash and no links in their paths that could make them fail.
  const bool by_slash = slash && call.result < 0 && call.result != -ENOENT &&
                        call.result != -EEXIST && call.call != Call::mkdir &&
                        call.call != Call::rmdir;
  const bool by_links = call.result == -ELOOP && !parts.model.is_symlink(path);
  if (by_slash || by_links) context.unknown_link = true;
  return path;
}

std::optional<NamedFile> find_named(CallParts& parts, CallContext& context, const GivenName& name,
                                    bool follow) {
  const SystemCall& call = context.call;
  if (name.path.empty() && call.result == -ENOENT) return std::nullopt;  // names nothing
  std::optional<FileHandle> handle;
  if (name.path.empty() && name.dir.descriptor != SystemCall::kCwd) {
    handle.emplace(name.dir);
  } else if (follow) {
    const auto magic = magic_path(name.path, context.task.process->id);
    if (magic && magic->rest.empty() && magic->descriptor != SystemCall::kCwd) {
      if (call.result == -ENOENT) {  // in a chroot without /proc
        count_omitted(parts);
        return std::nullopt;
      }
      handle.emplace(FileHandle{magic->descriptor, call.fd_path, call.file});
    }
  }
  if (handle) {
    Description* file = parts.files.find_open(context, *handle, FileUse::other);
    if (!file) return std::nullopt;
    const PathId path =
        parts.model.path_of(parts.model.file_of_slot(file->slot)).value_or(file->path);
    // Most calls cannot use an O_PATH descriptor.
    if (file->flags & O_PATH) return NamedFile{path, nullptr};
    parts.files.ensure_open(context, *file, FileUse::reading);
    return NamedFile{path, file};
  }
  if (name.path.empty() && call.result < 0) return std::nullopt;
  const std::optional<PathId> path = resolve_name(parts, context, name, follow);
  if (!path) return std::nullopt;
  if (parts.paths.is_omitted(*path)) {
    count_omitted(parts);
    return std::nullopt;
  }
  if (is_gone(parts, call, *path)) {
    context.removed = path;
    count_gone(parts);
    return std::nullopt;
  }
  if (parts.paths.is_below_special(*path)) {
    count_special(parts);
    return std::nullopt;
  }
  return NamedFile{*path, nullptr};
}

bool is_gone(CallParts& parts, const SystemCall& call, PathId path) {
  return call.result != -ENOENT && parts.paths.is_in_removed(path);
}

void count_gone(CallParts& parts) {
  parts.builder.approximated(kRemovedOmitted);
}

void count_special(CallParts& parts) {
  parts.builder.approximated("calls on pipes, sockets and devices omitted");
}

void count_omitted(CallParts& parts) {
  parts.builder.approximated("calls on /proc, /sys and /dev omitted");
}

namespace {

constexpr std::size_t kMaxPastDirectories = 32;

}  // namespace

bool is_working_place(CallParts& parts, PathId path) {
  return std::ranges::any_of(parts.tasks.all(), [&](const Task* task) {
    return parts.paths.is_below(task->fs_state->directory, path);
  });
}

void follow_rename(CallParts& parts, PathId from, PathId to, bool exchange) {
  parts.paths.renamed(from, to, exchange);
  std::unordered_set<const void*> done;  // tasks share what they refer to
  const auto follow = [&](PathId& path) {
    if (!done.insert(&path).second) return;
    if (parts.paths.is_below(path, from)) {
      path = parts.paths.moved(path, from, to);
    } else if (exchange && parts.paths.is_below(path, to)) {
      path = parts.paths.moved(path, to, from);
    }
  };
  for (Task* task : parts.tasks.all()) {
    follow(task->fs_state->directory);
    for (FsState::PastDirectory& stay : task->fs_state->past_directories) follow(stay.directory);
    if (done.insert(task->files.get()).second) {
      task->files->each([&](Description& file) { follow(file.path); });
    }
  }
  parts.files.numbers().each([&](Description& file) { follow(file.path); });
}

void follow_removal(CallParts& parts, PathId path, FileId file) {
  std::unordered_set<const void*> done;  // tasks share what they refer to
  const auto leave = [&](PathId& at) {
    if (!done.insert(&at).second || !parts.paths.is_below(at, path)) return;
    at = parts.paths.moved(at, path, parts.paths.removed(path));
  };
  // An open file with that path may be an earlier one, which has been unlinked.
  const auto leave_open = [&](Description& open) {
    const bool is_it = open.slot == kNoFile
                           ? open.directory
                           : file != kNoFileId && parts.model.file_of_slot(open.slot) == file;
    if (is_it || parts.paths.is_in_removed(open.path)) leave(open.path);
  };
  for (Task* task : parts.tasks.all()) {
    leave(task->fs_state->directory);
    for (FsState::PastDirectory& stay : task->fs_state->past_directories) leave(stay.directory);
    if (done.insert(task->files.get()).second) task->files->each(leave_open);
  }
  parts.files.numbers().each(leave_open);
}

void move_to(CallParts& parts, const CallContext& context, PathId directory) {
  FsState& now = *context.task.fs_state;
  if (context.task.fs_state.use_count() > 1) {
    auto* const known =
        find_or_null(now.past_directories, now.directory, &FsState::PastDirectory::directory);
    if (known) {
      known->until = parts.builder.operations();
    } else {
      if (now.past_directories.size() == kMaxPastDirectories) {
        now.past_directories.erase(
            std::ranges::min_element(now.past_directories, {}, &FsState::PastDirectory::until));
      }
      now.past_directories.push_back({now.directory, parts.builder.operations()});
    }
  }
  now.directory = directory;
  now.mount = context.mount;
  now.directory_ns = context.call.exit_ns;
  now.changed_at = parts.builder.operations();
}

}  // namespace filereel
