// Calls that name files.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <optional>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/stat.h>

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

bool is_special(std::uint32_t mode) {
  return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode) || S_ISBLK(mode);
}

}  // namespace

bool CallTranslation::base_of(Task& task, const Name& name, PathId& base) {
  base = task.surroundings->directory;
  if (name.path.starts_with('/')) return true;
  if (name.dir_path.starts_with('/')) {
    bool deleted = false;
    base = paths_.real(name.dir_path, deleted);
    if (name.dir == SystemCall::kCwd) task.surroundings->directory = base;
    return true;
  }
  if (name.dir == SystemCall::kCwd) return true;
  if (name.dir < 0) return false;
  Descriptor* descriptor = task.files->find(name.dir);
  DescriptionRef file = descriptor ? descriptor->description
                                   : inherit(task, {}, name.dir, name.dir_path, Use::listing);
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
  const Name seen{magic ? magic->descriptor : name.dir, magic ? kNotKnown : name.dir_path, text};
  if (!base_of(task, seen, base)) return false;
  if (in_root) root = base;
  const bool slash = name.path.ends_with('/');
  if (slash && !names_an_entry(call.call)) follow = true;
  path = paths_.resolve(seen.path,
                        {.base = base, .root = root, .follow = follow, .failed = call.result < 0});
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
    const std::string& known = name.path.empty() ? name.dir_path : call.fd_path;
    Description* file = file_of(task, call, *number, known, Use::other);
    if (!file) return false;
    target.path = file->path;
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
    case Call::mkdir:
    case Call::rmdir:
    case Call::unlink:
    case Call::symlink:
    case Call::rename:
    case Call::mknod:
      return false;
    default:
      return !(call.flags & AT_SYMLINK_NOFOLLOW);
  }
}

void CallTranslation::open_call(Task& task, const SystemCall& call) {
  const auto flags = static_cast<std::uint32_t>(call.flags);
  const bool close_on_exec = (flags & O_CLOEXEC) != 0;
  const bool opened = call.result >= 0;
  if (opened && !call.result_path.empty() && !names_file(call.result_path)) {
    left_out();
    return put(task, call, call.result, nullptr, close_on_exec);
  }
  Target target;
  if (!find_target(task, call, first_name(call), follows(call), target)) {
    return put(task, call, call.result, nullptr, close_on_exec);
  }
  PathId path = target.path;
  const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  if (opened && blind_ && call.result_path.empty()) {
    // What was opened needs a place: any that nothing else has.
    const std::string place = builder_.tables().paths.node(path).name + ".filereel-unknown";
    model_.learn_link(path, builder_.tables().texts.add(place));
    path = builder_.tables().paths.add(builder_.tables().paths.node(path).parent, place);
    builder_.approximated("symbolic links whose text is not known");
    blind_ = false;
  }
  if (opened && !call.result_path.empty() && !unnamed) {
    bool deleted = false;
    const PathId real = paths_.real(call.result_path, deleted);
    if (!deleted && real != path && paths_.learn(path, real)) {
      path = real;
      blind_ = false;
    }
  }
  if (specials_.contains(path)) {
    builder_.approximated("calls on pipes, sockets and devices left out");
    return put(task, call, call.result, nullptr, close_on_exec);
  }

  Operation operation;
  operation.kind = OperationKind::open;
  operation.path = path;
  operation.flags = flags & ~static_cast<std::uint32_t>(O_CLOEXEC);
  if (flags & O_CREAT || unnamed) {
    operation.mode = static_cast<std::uint32_t>(call.mode) & 07777 & ~task.surroundings->umask;
  }
  if (!opened) return emit(task, call, operation);
  if (call.result > INT_MAX) return;

  // Before the new file takes a slot, so that what had the number gives its own back.
  const auto number = static_cast<int>(call.result);
  const bool reused = task.files->find(number) != nullptr;
  drop(task, call.enter_ns, call.enter_ns, task.files->take(number));
  auto file = std::make_shared<Description>();
  file->slot = operation.file = builder_.take_slot();
  file->path = path;
  file->flags = flags;
  file->directory = (flags & O_DIRECTORY) && !unnamed;
  emit(task, call, operation);
  task.files->put(number, {.description = std::move(file),
                           .close_on_exec = close_on_exec,
                           .reused = reused,
                           .reused_ns = call.exit_ns});
}

void CallTranslation::describe(const SystemCall& call, const Target& target, Operation& operation) {
  if (!call.stat || call.result < 0) return;
  const FileId file =
      target.file ? model_.file_of_slot(target.file->slot) : model_.file_of(target.path);
  if (S_ISREG(call.stat->mode) &&
      (file == kNoFileId || !model_.size_is_exact(file) || model_.size(file) != call.stat->size)) {
    operation.length = std::min<std::uint64_t>(call.stat->size, INT64_MAX);
  }
  if (file != kNoFileId) {
    if (known_modes_.size() <= file) known_modes_.resize(std::size_t{model_.files()} + 1);
    if (known_modes_[file]) return;
    known_modes_[file] = true;
  }
  operation.mode = call.stat->mode;
}

void CallTranslation::path_call(Task& task, const SystemCall& call) {
  if (call.stat && call.result >= 0 && is_special(call.stat->mode)) {
    PathId path = 0;
    if (!call.path.empty() && resolve(task, call, first_name(call), follows(call), path) &&
        !paths_.is_left_out(path)) {
      specials_.insert(path);
    }
    return builder_.approximated("calls on pipes, sockets and devices left out");
  }
  Target target;
  if (!find_target(task, call, first_name(call), follows(call), target)) return;
  Operation operation;
  if (specials_.contains(target.path)) {
    if (call.call != Call::unlink) {
      return builder_.approximated("calls on pipes, sockets and devices left out");
    }
    if (call.result >= 0) specials_.erase(target.path);
    operation.loose = true;  // such files are not made
  }
  if (target.file) {
    operation.file = target.file->slot;
  } else {
    operation.path = target.path;
  }
  switch (call.call) {
    case Call::truncate:
      operation.kind = OperationKind::truncate;
      operation.offset = call.offset.value_or(0);
      if (operation.offset > INT64_MAX) return builder_.lost("calls with impossible offsets");
      break;
    case Call::stat:
      operation.kind = OperationKind::stat;
      describe(call, target, operation);
      break;
    case Call::statfs:
      operation.kind = OperationKind::stat_volume;
      break;
    case Call::access:
      operation.kind = OperationKind::access;
      operation.mode = static_cast<std::uint32_t>(call.mode & 7);
      break;
    case Call::readlink:
      operation.kind = OperationKind::read_link;
      if (call.result >= 0) operation.text = builder_.tables().texts.add(call.text);
      break;
    case Call::mkdir:
      operation.kind = OperationKind::make_directory;
      operation.mode = static_cast<std::uint32_t>(call.mode) & 07777 & ~task.surroundings->umask;
      break;
    case Call::rmdir:
      operation.kind = OperationKind::remove_directory;
      break;
    case Call::unlink:
      operation.kind = OperationKind::unlink;
      break;
    case Call::symlink:
      operation.kind = OperationKind::symlink;
      operation.text = builder_.tables().texts.add(call.text);
      break;
    case Call::chmod:
      operation.kind = OperationKind::change_mode;
      operation.mode = static_cast<std::uint32_t>(call.mode & 07777);
      break;
    case Call::chown:
      operation.kind = OperationKind::change_owner;
      set_owner(call, operation);
      break;
    case Call::utimens:
      operation.kind = OperationKind::set_times;
      operation.offset = call.times[0];
      operation.second = call.times[1];
      break;
    default:
      return emit_attribute(task, call, operation);
  }
  // These have no form that takes an open file.
  if (target.file && (call.call == Call::access || call.call == Call::readlink)) {
    operation.file = kNoFile;
    operation.path = target.path;
  }
  emit(task, call, operation);
}

void CallTranslation::rename_call(Task& task, const SystemCall& call) {
  Operation operation;
  operation.kind = OperationKind::rename;
  operation.flags = static_cast<std::uint32_t>(call.flags);
  Target from, to;
  if (!find_target(task, call, first_name(call), false, from) ||
      !find_target(task, call, second_name(call), false, to)) {
    return;
  }
  operation.old_path = from.path;
  operation.path = to.path;
  if (call.result < 0) return emit(task, call, operation);
  const bool special = specials_.erase(from.path) > 0;
  operation.loose = special || specials_.erase(to.path) > 0;
  if (special) specials_.insert(to.path);
  const bool exchange = (call.flags & RENAME_EXCHANGE) != 0;
  const bool directory =
      model_.is_directory(from.path) || (exchange && model_.is_directory(to.path));
  emit(task, call, operation);
  if (directory && from.path != to.path) follow_rename(from.path, to.path, exchange);
}

void CallTranslation::follow_rename(PathId from, PathId to, bool exchange) {
  std::unordered_set<const void*> done;  // tasks share what they refer to
  const auto follow = [&](PathId& path) {
    if (!done.insert(&path).second) return;
    if (paths_.is_below(path, from)) {
      path = paths_.moved(path, from, to);
    } else if (exchange && paths_.is_below(path, to)) {
      path = paths_.moved(path, to, from);
    }
  };
  for (Task* task : tasks_.all()) {
    follow(task->surroundings->directory);
    if (done.insert(task->files.get()).second) {
      task->files->each([&](Description& file) { follow(file.path); });
    }
  }
}

void CallTranslation::link_call(Task& task, const SystemCall& call) {
  Target from, to;
  if (!find_target(task, call, first_name(call), follows(call), from) ||
      !find_target(task, call, second_name(call), false, to)) {
    return;
  }
  Operation operation;
  operation.kind = OperationKind::link;
  operation.path = to.path;
  if (from.file) {
    operation.file = from.file->slot;
  } else {
    operation.old_path = from.path;
  }
  emit(task, call, operation);
}

void CallTranslation::mknod_call(Task& task, const SystemCall& call) {
  Target target;
  if (!find_target(task, call, first_name(call), false, target)) return;
  const auto type = static_cast<std::uint32_t>(call.mode) & S_IFMT;
  const std::uint32_t mode =
      static_cast<std::uint32_t>(call.mode) & 07777 & ~task.surroundings->umask;
  Operation operation;
  operation.path = target.path;
  if (type == S_IFREG || type == 0) {  // a file like any other
    operation.kind = OperationKind::open;
    operation.flags = O_CREAT | O_EXCL | O_WRONLY;
    operation.mode = mode;
    if (call.result < 0) return emit(task, call, operation);
    appear(task, call, builder_.tables().paths.node(target.path).parent, S_IFDIR);
    return make_file(task, call.enter_ns, call.exit_ns, target.path, mode);
  }
  if (call.result >= 0) specials_.insert(target.path);
  operation.kind = OperationKind::make_node;
  operation.mode = type | mode;
  emit(task, call, operation);
}

void CallTranslation::chdir_call(Task& task, const SystemCall& call) {
  PathId path = 0;
  if (call.call == Call::fchdir) {
    const Name name{call.fd, call.fd_path, call.path};
    // The path stays empty: the descriptor itself.
    if (call.fd < 0 || !base_of(task, name, path)) return;
  } else if (!resolve(task, call, first_name(call), true, path)) {
    return;
  }
  if (call.result >= 0) {
    if (call.call == Call::chroot) {
      task.surroundings->root = path;
      return builder_.approximated("changes of the root directory are not replayed");
    }
    task.surroundings->directory = path;
  }
  if (call.call == Call::chroot) return;
  if (paths_.is_left_out(path)) return left_out();
  Operation operation;
  operation.kind = OperationKind::change_directory;
  operation.path = path;
  emit(task, call, operation);
}

}  // namespace filereel
