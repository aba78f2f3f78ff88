// Which open file a call means, by its descriptor and by what the tracer knows beside.
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "traces/calls/call_translation.h"

namespace filereel {

DescriptionRef CallTranslation::used_file(const SystemCall& call) {
  switch (call.call) {
    case Call::read:
    case Call::write:
    case Call::ftruncate:
    case Call::fallocate:
    case Call::fsync:
    case Call::fdatasync:
    case Call::sync_file_range:
    case Call::getdents:
    case Call::copy_file_range:
    case Call::sendfile:
    case Call::submit:
      break;
    default:
      return nullptr;
  }
  Task* task = tasks_.find(call.thread);
  return task ? known_file(*task, first_file(call)) : nullptr;
}

DescriptionRef CallTranslation::known_file(Task& task, const Handle& handle) {
  if (DescriptionRef file = open_files_.find(handle.file)) return file;
  const DescriptorEntry* descriptor = task.files->find(handle.descriptor);
  if (!descriptor || !descriptor->description) return nullptr;
  const std::uint64_t number = descriptor->description->number;
  return number == 0 || handle.file == 0 ? descriptor->description : nullptr;
}

bool CallTranslation::may_be_file(const SystemCall& call) {
  if (!call.fd_path.empty() && !names_file(call.fd_path)) return false;
  Task* task = tasks_.find(call.thread);
  const DescriptorEntry* descriptor = task ? task->files->find(call.fd) : nullptr;
  return !descriptor || descriptor->description;
}

bool CallTranslation::could_unlock(const SystemCall& other, const SystemCall& call) {
  Task* task = tasks_.find(call.thread);
  Task* unlocker = tasks_.find(other.thread);
  if (!task || !unlocker || task == unlocker) return false;
  const DescriptionRef mine = known_file(*task, first_file(call));
  const DescriptionRef theirs = known_file(*unlocker, first_file(other));
  if (!mine || !theirs) return false;
  const Description &file = *mine, &unlocked = *theirs;
  // Record locks are the process's, the others the open file's: who has one is in nobody's way.
  if (call.call == Call::record_lock ? task->process == unlocker->process : &file == &unlocked) {
    return false;
  }
  if (file.slot == kNoFile || unlocked.slot == kNoFile) return file.path == unlocked.path;
  return model_.file_of_slot(file.slot) == model_.file_of_slot(unlocked.slot);
}

DescriptionRef CallTranslation::inherit(Task& task, const SystemCall& call, const Handle& handle,
                                        Use use) {
  DescriptionRef file;
  const int number = handle.descriptor;
  const std::string& path = handle.path;
  const bool seen_as_file =
      !call.stat || S_ISREG(call.stat->mode) || S_ISDIR(call.stat->mode) || call.fd != number;
  const bool standard = path.empty() && number <= 2 && use != Use::listing;
  // The calls that open files were all seen; sockets and the like are made by others.
  const bool sets_flags = call.call == Call::set_flags;
  const bool tells_nothing =
      ((call.call == Call::read || call.call == Call::write) && !call.offset) || sets_flags;
  // A later call on an open file that is told by its number can still say that it is one.
  const bool is_told_later = sets_flags && handle.file != 0;
  if (path.empty() && !standard && (is_told_later || (tells_nothing && task.process->from_start))) {
    builder_.approximated("descriptors from calls that the trace does not show taken for sockets");
    return nullptr;
  }
  if (call.result != -ESPIPE && seen_as_file && !standard && (path.empty() || names_file(path))) {
    file = std::make_shared<Description>();
    file->inherited = true;
    if (path.empty()) {
      file->path = builder_.path(fmt::format("filereel-unknown/{}-{}", task.process->id, number));
      builder_.approximated("descriptors that the trace does not see opened");
    } else {
      bool deleted = false;
      file->path = paths_.real(path, deleted);
      if (deleted) builder_.approximated("open files that had been unlinked before the trace");
      if (specials_.contains(file->path)) return nullptr;
    }
    file->directory = use == Use::listing || model_.is_directory(file->path) ||
                      (call.fd == number && call.stat && S_ISDIR(call.stat->mode));
  }
  return file;
}

void CallTranslation::place(Task& task, const SystemCall& call, int descriptor,
                            const DescriptionRef& file) {
  if (descriptor < 0) return;
  const DescriptorEntry* here = task.files->find(descriptor);
  // The call began before it was given out: it meant an earlier file.
  if (here && call.enter_ns < here->since_ns) {
    if (file) used_.push_back(file);
    return;
  }
  // The call may use what it had under another number of its own.
  if (here && here->description && beginning_) used_.push_back(here->description);
  drop(task, call.enter_ns, call.enter_ns,
       task.files->put(descriptor, {.description = file, .since_ns = here ? call.enter_ns : 0}));
}

DescriptionRef CallTranslation::find_file(Task& task, const SystemCall& call, const Handle& handle,
                                          Use use) {
  DescriptionRef began = beginning_ && handle.descriptor == call.fd ? beginning_->file : nullptr;
  if (began && (handle.file == 0 || began->number == 0 || began->number == handle.file)) {
    return began;
  }
  const DescriptorEntry* descriptor = task.files->find(handle.descriptor);
  DescriptionRef here = descriptor ? descriptor->description : nullptr;
  DescriptionRef file = open_files_.find(handle.file);
  if (here && !file && here->number == 0) {
    open_files_.bind(handle.file, here);
    return here;
  }
  if (here && (handle.file == 0 || here == file)) return here;
  if (!handle.path.empty() && !names_file(handle.path)) file = nullptr;
  if (!file) {
    // The tracer has not seen all: what was no file is one now.
    if (descriptor && !here && !names_file(handle.path)) return nullptr;
    if (handle.descriptor < 0 && handle.path.empty()) return nullptr;
    file = inherit(task, call, handle, use);
    open_files_.bind(handle.file, file);
  }
  place(task, call, handle.descriptor, file);
  return file;
}

Description* CallTranslation::file_of(Task& task, const SystemCall& call, const Handle& handle,
                                      Use use) {
  if (handle.descriptor < 0) return nullptr;
  const DescriptionRef file = find_file(task, call, handle, use);
  if (!file) return nullptr;
  if (use != Use::other) announce(task, call, *file, use);
  return file.get();
}

void CallTranslation::announce(Task& task, const SystemCall& call, Description& file, Use use) {
  if (file.slot != kNoFile) {
    if (!kept_.is_inside_file(file.slot) && kept_.is_inside(file.path)) {
      show(task, call, file);
      kept_.enter(file.slot);
    }
    if (!file.inherited || file.flags_known) return;
    if (use != Use::writing || (file.flags & O_ACCMODE) != O_RDONLY) return;
    if (file.directory) return;
    // It was open for writing all the time. It may have another name by now.
    if (const auto now = model_.path_of(model_.file_of_slot(file.slot))) file.path = *now;
    Operation close;
    close.kind = OperationKind::close;
    close.file = file.slot;
    emit_at(task, call.enter_ns, call.enter_ns, close);
    builder_.free_slot(file.slot);
  }
  constexpr std::uint32_t kOpening = O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW;  // for this one time
  if (file.flags_known) {
    file.flags &= ~kOpening;
  } else {
    file.flags = file.directory ? O_RDONLY | O_DIRECTORY : use == Use::writing ? O_RDWR : O_RDONLY;
  }
  file.slot = builder_.take_slot();
  Operation open;
  open.kind = OperationKind::open;
  open.path = file.path;
  open.file = file.slot;
  open.flags = file.flags;
  open.loose = true;
  if (file.seen && S_ISREG(file.seen->mode)) {
    model_.learn_opened(file.slot, {.mode = file.seen->mode, .size = file.seen->size});
  }
  emit_at(task, call.enter_ns, call.enter_ns, open);
}

void CallTranslation::show(Task& task, const SystemCall& call, const Description& file) {
  if (kept_.shows(file.slot)) return;
  const bool unnamed = (file.flags & O_TMPFILE) == O_TMPFILE;
  kept_.show(file.slot);
  Operation open;
  open.kind = OperationKind::open;
  open.path = file.path;
  open.file = file.slot;
  open.flags = file.flags & ~static_cast<std::uint32_t>(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
  if (unnamed) open.mode = 0644;
  open.loose = true;
  emit_at(task, call.enter_ns, call.enter_ns, open);
}

}  // namespace filereel
