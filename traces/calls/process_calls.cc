// Calls that begin and end threads and processes.
#include <utility>

#include <fcntl.h>
#include <sched.h>

#include "traces/calls/call_translation.h"

namespace filereel {

void CallTranslation::begin_process(const KnownProcess& known) {
  if (tasks_.find_process(known.id)) return;
  SystemCall first;
  first.thread = first.process = known.id;
  Task& task = new_root_task(first);
  bool deleted = false;
  if (!known.root.empty()) task.surroundings->root = paths_.real(known.root, deleted);
  if (!known.directory.empty()) {
    task.surroundings->directory = paths_.real(known.directory, deleted);
  }
  task.surroundings->umask = known.mode_mask;
  for (const std::uint32_t thread : known.threads) {
    first.thread = thread;
    if (thread != known.id) new_root_task(first);
  }
  first.thread = known.id;
  for (const KnownProcess::Open& open : known.open) {
    const DescriptionRef file = inherit(task, first, {open.number, open.path, 0}, Use::other);
    if (file) {
      file->flags = open.flags & ~static_cast<std::uint32_t>(O_CLOEXEC);
      file->offset = open.position;
      file->flags_known = file->position_used = true;
      file->seen = open.stat;
      if (open.stat) file->size_before = open.stat->size;
    }
    task.files->put(open.number,
                    {.description = file, .close_on_exec = (open.flags & O_CLOEXEC) != 0});
  }
}

void CallTranslation::fork_call(Task& task, const SystemCall& call) {
  if (call.result <= 0 || call.result > UINT32_MAX) return;
  const auto thread = static_cast<std::uint32_t>(call.result);
  if (thread == task.thread) return;
  if (Task* known = tasks_.find(thread)) {
    // Its calls came first, or it is an earlier thread whose end was missed.
    const bool child = builder_.thread(known->number).parent == TraceThread::kNoParent &&
                       known->first_ns >= call.enter_ns && known != &task;
    if (child) return adopt(task, *known, call);
    end_task(*known, call.enter_ns, true);
  }
  const bool is_thread = (call.flags & CLONE_THREAD) != 0;
  const std::uint32_t process = is_thread ? task.process->id : thread;
  const std::uint32_t number = builder_.add_thread({.process = process,
                                                    .thread = thread,
                                                    .parent = task.number,
                                                    .name = builder_.thread(task.number).name});
  Task& child = tasks_.add(thread, process, number);
  if (!is_thread) child.process->from_start = task.process->from_start;
  child.first_ns = call.enter_ns;
  child.last_start_ns = call.enter_ns;
  child.files =
      call.flags & CLONE_FILES ? task.files : std::make_shared<DescriptorTable>(*task.files);
  child.surroundings = call.flags & CLONE_FS ? task.surroundings
                                             : std::make_shared<Surroundings>(*task.surroundings);
  if (call.flags & CLONE_NEWNS) leave_mounts(*child.surroundings);
  if (call.flags & CLONE_VM) {
    child.memory = task.memory;
  } else {
    child.memory = std::make_shared<AddressSpace>();
    child.memory->copy_from(*task.memory, mapping_uses_);
  }
  Operation operation;
  operation.kind = OperationKind::fork;
  operation.second = number;
  emit(task, call, operation);
}

void CallTranslation::adopt(Task& parent, Task& child, const SystemCall& call) {
  builder_.approximated("threads whose first calls came before their parent's fork");
  builder_.thread(child.number).parent = parent.number;
  if (call.flags & CLONE_THREAD) {
    tasks_.join_process(child, *parent.process);
    builder_.thread(child.number).process = parent.process->id;
  }
  if (call.flags & CLONE_FILES) {
    const std::shared_ptr<DescriptorTable> guessed = std::exchange(child.files, parent.files);
    parent.files->add_missing(*guessed);
    // Where the parent knows better, what was taken for the child's is closed.
    if (guessed.use_count() == 1) {
      for (DescriptorEntry& descriptor : guessed->take_all()) {
        drop(child, call.enter_ns, call.exit_ns, std::move(descriptor));
      }
    }
  } else {
    child.files->add_missing(*parent.files);
  }
  if (call.flags & CLONE_FS) child.surroundings = parent.surroundings;
  if (child.has_operations) return;
  Operation operation;
  operation.kind = OperationKind::fork;
  operation.second = child.number;
  emit(parent, call, operation);
}

void CallTranslation::unshare_call(Task& task, const SystemCall& call) {
  if (call.result < 0) return;
  if ((call.flags & CLONE_FILES) && task.files.use_count() > 1) {
    task.files = std::make_shared<DescriptorTable>(*task.files);
  }
  // A mount namespace of one's own needs a working directory of one's own.
  if (call.flags & (CLONE_FS | CLONE_NEWNS)) {
    task.surroundings = std::make_shared<Surroundings>(*task.surroundings);
  }
  if (call.flags & CLONE_NEWNS) leave_mounts(*task.surroundings);
}

void CallTranslation::leave_mounts(Surroundings& surroundings) {
  surroundings.other_mounts = true;
  if (paths_.looks()) {
    builder_.approximated("symbolic links in another mount namespace are not looked at");
  }
}

void CallTranslation::exec_call(Task& task, const SystemCall& call) {
  Target target;
  // A program that lies where no files are has to be replayed without it.
  if (find_target(task, call, first_name(call), follows(call), target)) {
    Operation operation;
    operation.kind = OperationKind::execute;
    operation.path = target.path;
    emit(task, call, operation);
  }
  if (call.result < 0) return;
  const std::vector<Task*> others = task.process->tasks;
  for (Task* other : others) {
    if (other != &task) end_task(*other, call.enter_ns, true);
  }
  tasks_.rename(task);
  if (task.files.use_count() > 1) task.files = std::make_shared<DescriptorTable>(*task.files);
  for (DescriptorEntry& descriptor : task.files->take_close_on_exec()) {
    drop(task, call.exit_ns, call.exit_ns, std::move(descriptor));
  }
  for (DescriptorEntry& descriptor : task.files->take_held()) {
    drop(task, call.exit_ns, call.exit_ns, std::move(descriptor));
  }
  unmap_all(task, call.exit_ns);
  task.memory = std::make_shared<AddressSpace>();
  const std::size_t slash = call.path.rfind('/');
  const std::string name = call.path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (!name.empty()) builder_.thread(task.number).name = name;
}

void CallTranslation::close_all(Task& task, std::uint64_t at_ns) {
  if (task.files.use_count() > 1) return;
  for (DescriptorEntry& descriptor : task.files->take_all()) {
    drop(task, at_ns, at_ns, std::move(descriptor));
  }
}

void CallTranslation::end_task(Task& task, std::uint64_t at_ns, bool emits_exit) {
  unmap_all(task, at_ns);
  close_all(task, at_ns);
  if (emits_exit) {
    Operation operation;
    operation.kind = OperationKind::exit;
    emit_at(task, at_ns, at_ns, operation);
  }
  last_ended_.number = task.number;
  last_ended_.last_start_ns = task.last_start_ns;
  tasks_.remove(task, at_ns);
}

}  // namespace filereel
