// Calls that name files.
#include <algorithm>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

constexpr std::string_view kNothingOpen =
    "opens of unlinked files that nothing else has open as they need";

bool is_special(std::uint32_t mode) {
  return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode) || S_ISBLK(mode);
}

}  // namespace

void CallTranslation::open_call(Task& task, const SystemCall& call) {
  const auto flags = static_cast<std::uint32_t>(call.flags);
  const bool close_on_exec = (flags & O_CLOEXEC) != 0;
  const bool opened = call.result >= 0;
  if (opened) open_files_.bind(call.result_file, nullptr);  // until it is known to be a file
  if (opened && !call.result_path.empty() && !names_file(call.result_path)) {
    left_out();
    return put(task, call, call.result, nullptr, close_on_exec);
  }
  Target target;
  const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  const bool found = find_target(task, call, first_name(call), follows(call), target);
  if (opened && !unnamed) {
    if (const DescriptionRef file = nameless_file(call, target)) return reopen(task, call, file);
  }
  if (!found) {
    if (opened && is_deleted(call.result_path)) builder_.lost(kNothingOpen);
    return put(task, call, call.result, nullptr, close_on_exec);
  }
  PathId path = target.path;
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
    // Links between places that are not kept are nobody's concern.
    const bool concerns = kept_.is_inside(real) || kept_.is_inside(path);
    if (!deleted && real != path && (!concerns || paths_.learn(path, real))) {
      path = real;
      blind_ = false;
    }
  }
  if (opened && call.stat && !unnamed) {
    if (is_special(call.stat->mode)) {
      specials_.insert(path);
    } else {
      specials_.erase(path);
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
  if (task.files->find(number)) task.files->expect_close(number, call.exit_ns);
  drop(task, call.enter_ns, call.enter_ns, task.files->take(number));
  auto file = std::make_shared<Description>();
  file->slot = operation.file = builder_.take_slot();
  file->path = path;
  file->flags = flags;
  file->directory = ((flags & O_DIRECTORY) && !unnamed) || (call.stat && S_ISDIR(call.stat->mode));
  if (kept_.is_inside(path)) learn_opened(call, file->slot);
  emit(task, call, operation);
  identify(call, file->slot);
  open_files_.bind(call.result_file, file);
  task.files->put(
      number,
      {.description = std::move(file), .close_on_exec = close_on_exec, .since_ns = call.exit_ns});
}

DescriptionRef CallTranslation::nameless_file(const SystemCall& call, const Target& target) {
  const auto is_nameless = [&](FileId file) { return file != kNoFileId && !model_.path_of(file); };
  if (target.file) {
    const bool nameless = is_nameless(model_.file_of_slot(target.file->slot));
    return nameless ? target.file->shared_from_this() : nullptr;
  }
  if (!call.stat) return nullptr;
  const FileId file = identities_.find(*call.stat);
  if (!is_nameless(file)) return nullptr;
  DescriptionRef best;
  open_files_.each([&](Description& open) {
    if (open.slot == kNoFile || model_.file_of_slot(open.slot) != file) return;
    if (!best || (open.flags & O_ACCMODE) == O_RDWR) best = open.shared_from_this();
  });
  return best;
}

void CallTranslation::reopen(Task& task, const SystemCall& call, const DescriptionRef& file) {
  const DescriptionRef& first = file->opened_before ? file->opened_before : file;
  const auto flags = static_cast<std::uint32_t>(call.flags);
  const std::uint32_t access = first->flags & O_ACCMODE;
  const bool truncates = (flags & O_TRUNC) != 0;
  const bool guessed = first->inherited && !first->flags_known;
  const bool allowed = access == O_RDWR || access == (flags & O_ACCMODE);
  if (guessed || !allowed || (truncates && access == O_RDONLY)) {
    builder_.lost(kNothingOpen);
    return put(task, call, call.result, nullptr, (flags & O_CLOEXEC) != 0);
  }
  if (truncates) {
    Operation operation;
    operation.kind = OperationKind::truncate;
    operation.file = first->slot;
    emit(task, call, operation);
  }
  const auto again = std::make_shared<Description>();
  again->slot = first->slot;
  again->path = first->path;
  again->flags = flags;
  again->directory = first->directory;
  again->opened_before = first;
  open_files_.bind(call.result_file, again);
  put(task, call, call.result, again, (flags & O_CLOEXEC) != 0);
}

void CallTranslation::learn_opened(const SystemCall& call, FileSlot slot) {
  if (!call.stat && !call.size_before && !call.created) return;
  TreeModel::OpenedFile opened;
  opened.existed = call.created ? !*call.created : call.size_before || !(call.flags & O_CREAT);
  if (!call.created && !opened.existed) return;  // nobody knows
  if (call.stat) opened.mode = call.stat->mode;
  if (call.size_before) {
    opened.size = call.size_before;
  } else if (call.stat && !(call.flags & O_TRUNC)) {
    opened.size = call.stat->size;
  }
  model_.learn_opened(slot, opened);
}

void CallTranslation::identify(const SystemCall& call, FileSlot slot) {
  FileIdentities::Known* known = call.stat ? identities_.at(*call.stat) : nullptr;
  const FileId file = model_.file_of_slot(slot);
  if (!known || file == kNoFileId) return;
  const FileId earlier = std::exchange(known->file, file);
  if (earlier == file || earlier == kNoFileId || known->counted) return;
  if (!S_ISREG(call.stat->mode) || !model_.is_initial(file) || !model_.is_initial(earlier)) return;
  if (!model_.path_of(earlier)) return;  // its inode was given to another file
  known->counted = true;
  builder_.approximated("hard links that were there before the trace are files of their own");
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
  const bool comes = kept_.is_inside(to.path) && !kept_.is_inside(from.path);
  if (comes) builder_.approximated("files moved into the recorded directory come empty");
  if ((directory || comes) && from.path != to.path) follow_rename(from.path, to.path, exchange);
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
    for (Surroundings::Stay& stay : task->surroundings->stays) follow(stay.directory);
    if (done.insert(task->files.get()).second) {
      task->files->each([&](Description& file) { follow(file.path); });
    }
  }
  open_files_.each([&](Description& file) { follow(file.path); });
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
    if (kept_.is_inside(to.path)) show(task, call, *from.file);
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
    const Name name{call.fd, call.fd_path, call.file, call.path};
    // The path stays empty: the descriptor itself.
    if (call.fd < 0 || !base_of(task, call, name, path)) return;
  } else if (!resolve(task, call, first_name(call), true, path)) {
    return;
  }
  if (call.result >= 0) {
    if (call.call == Call::chroot) {
      task.surroundings->root = path;
      return builder_.approximated("changes of the root directory are not replayed");
    }
    change_directory(task, call, path);
  }
  if (call.call == Call::chroot) return;
  if (paths_.is_left_out(path)) return left_out();
  Operation operation;
  operation.kind = OperationKind::change_directory;
  operation.path = path;
  emit(task, call, operation);
}

}  // namespace filereel
