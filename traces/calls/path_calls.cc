// Calls that name files.
#include <algorithm>
#include <climits>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

bool is_special(std::uint32_t mode) {
  return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode) || S_ISBLK(mode);
}

}  // namespace

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
