#include "traces/calls/process_calls.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include "traces/calls/mapping_calls.h"
#include "traces/calls/names.h"

namespace filereel {
namespace {

Task& new_root_task(CallParts& parts, const SystemCall& call, const std::string& name = {}) {
  const std::uint32_t process = call.process != 0 ? call.process : call.thread;
  const Process* known = parts.tasks.find_process(process);
  const Task* sibling = known ? known->tasks.front() : nullptr;
  const std::uint32_t number =
      parts.builder.add_thread({.process = process, .thread = call.thread, .name = name});
  Task& task = parts.tasks.add(call.thread, process, number);
  if (sibling) {  // the thread's creation was not seen
    task.files = sibling->files;
    task.fs_state = sibling->fs_state;
    task.memory = sibling->memory;
  } else {
    task.files = std::make_shared<DescriptorTable>();
    task.fs_state = std::make_shared<FsState>();
    task.fs_state->directory = parts.working_directory.path;
    task.fs_state->mount = parts.working_directory.mount;
    task.memory = std::make_shared<AddressSpace>();
    task.process->from_start = call.call == Call::exec && call.result >= 0;
  }
  task.first_ns = call.enter_ns;
  return task;
}

void adopt(CallParts& parts, const CallContext& context, Task& child) {
  const SystemCall& call = context.call;
  Task& parent = context.task;
  parts.builder.approximated("threads whose first call precedes their parent's fork");
  parts.builder.thread(child.number).parent = parent.number;
  if (call.flags & CLONE_THREAD) {
    parts.tasks.join_process(child, *parent.process);
    parts.builder.thread(child.number).process = parent.process->id;
  }
  if (call.flags & CLONE_FILES) {
    const std::shared_ptr<DescriptorTable> guessed = std::exchange(child.files, parent.files);
    parent.files->add_missing(*guessed);
    // Where the parent's table is more accurate, the child's assumed files are closed.
    if (guessed.use_count() == 1) {
      parts.files.drop_all(child, call.enter_ns, call.exit_ns, guessed->take_all());
    }
  } else {
    child.files->add_missing(*parent.files);
  }
  if (call.flags & CLONE_FS) child.fs_state = parent.fs_state;
  if (child.has_operations) return;
  parts.emitter.emit(context, {.kind = OperationKind::fork, .second = child.number});
}

void leave_mounts(CallParts& parts, FsState& fs_state) {
  fs_state.other_mounts = true;
  parts.builder.cannot_be_checked("the program used mounts of its own");
  if (parts.paths.reads_links()) {
    parts.builder.approximated("symbolic links in another mount namespace not resolved");
  }
}

void end_task(CallParts& parts, Task& task, std::uint64_t at_ns, bool emits_exit) {
  leave_memory(parts, task, at_ns);
  if (task.files.use_count() == 1) parts.files.drop_all(task, at_ns, at_ns, task.files->take_all());
  if (emits_exit) parts.emitter.add(task, at_ns, at_ns, {.kind = OperationKind::exit});
  parts.tasks.remove(task, at_ns);
}

void end_tasks(CallParts& parts, const Process& process, const Task* except, std::uint64_t at_ns) {
  const std::vector<Task*> tasks = process.tasks;
  for (Task* task : tasks) {
    if (task != except) end_task(parts, *task, at_ns, true);
  }
}

}  // namespace

void begin_process(CallParts& parts, const KnownProcess& known) {
  if (parts.tasks.find_process(known.id)) return;
  SystemCall first;
  first.thread = first.process = known.id;
  Task& task = new_root_task(parts, first, known.name);
  bool deleted = false;
  FsState& around = *task.fs_state;
  if (!known.root.empty()) around.root = parts.paths.real(known.root, deleted);
  if (!known.directory.empty()) {
    const ResolvedPath there = parts.paths.reached(known.directory, deleted);
    around.directory = there.path;
    around.mount = there.mount;
    if (deleted) around.directory = parts.paths.removed(around.directory);
  }
  around.umask = known.mode_mask;
  for (const std::uint32_t thread : known.threads) {
    first.thread = thread;
    if (thread != known.id) new_root_task(parts, first, known.name);
  }
  first.thread = known.id;
  for (const KnownProcess::Open& open : known.open) {
    const DescriptionRef file =
        parts.files.inherit(task, first, {open.number, open.path, 0}, FileUse::other);
    if (file) {
      file->flags = open.flags & ~static_cast<std::uint32_t>(O_CLOEXEC);
      file->offset = open.position;
      file->flags_known = file->position_used = true;
      file->seen = file->identity = open.stat;
      if (open.stat) file->size_before = open.stat->size;
    }
    task.files->put(open.number,
                    {.description = file, .close_on_exec = (open.flags & O_CLOEXEC) != 0});
  }
}

Task* task_of(CallParts& parts, const SystemCall& call) {
  if (Task* task = parts.tasks.find(call.thread)) return task;
  if (call.call == Call::exit || call.call == Call::exit_group) return nullptr;
  if (call.call == Call::exec && call.result >= 0) {
    // Another thread than the first continues under the first one's number.
    if (Process* process = parts.tasks.find_process(call.thread)) return process->tasks.front();
  }
  if (parts.tasks.ended_after(call.thread, call.enter_ns)) {
    parts.builder.lost("calls that returned after their process ended");
    return nullptr;
  }
  return &new_root_task(parts, call);
}

void fork_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  Task& task = context.task;
  if (call.result <= 0 || call.result > UINT32_MAX) return;
  const auto thread = static_cast<std::uint32_t>(call.result);
  if (thread == task.thread) return;
  if (Task* known = parts.tasks.find(thread)) {
    // Its calls arrived first, or it is an earlier thread whose end was missed.
    const bool child = parts.builder.thread(known->number).parent == TraceThread::kNoParent &&
                       known->first_ns >= call.enter_ns;
    if (child) return adopt(parts, context, *known);
    end_task(parts, *known, call.enter_ns, true);
  }
  const bool is_thread = (call.flags & CLONE_THREAD) != 0;
  const std::uint32_t process = is_thread ? task.process->id : thread;
  const std::uint32_t number =
      parts.builder.add_thread({.process = process,
                                .thread = thread,
                                .parent = task.number,
                                .name = parts.builder.thread(task.number).name});
  Task& child = parts.tasks.add(thread, process, number);
  if (!is_thread) child.process->from_start = task.process->from_start;
  child.first_ns = child.last_start_ns = call.enter_ns;
  child.files =
      call.flags & CLONE_FILES ? task.files : std::make_shared<DescriptorTable>(*task.files);
  child.fs_state =
      call.flags & CLONE_FS ? task.fs_state : std::make_shared<FsState>(*task.fs_state);
  if (call.flags & CLONE_NEWNS) leave_mounts(parts, *child.fs_state);
  if (call.flags & CLONE_VM) {
    child.memory = task.memory;
  } else {
    child.memory = std::make_shared<AddressSpace>();
    child.memory->copy_from(*task.memory, parts.mapping_uses);
  }
  parts.emitter.emit(context, {.kind = OperationKind::fork, .second = number});
}

void unshare_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  Task& task = context.task;
  if (call.result < 0) return;
  if ((call.flags & CLONE_FILES) && task.files.use_count() > 1) {
    task.files = std::make_shared<DescriptorTable>(*task.files);
  }
  // A separate mount namespace needs a separate working directory.
  if (call.flags & (CLONE_FS | CLONE_NEWNS)) {
    task.fs_state = std::make_shared<FsState>(*task.fs_state);
  }
  if (call.flags & CLONE_NEWNS) leave_mounts(parts, *task.fs_state);
}

void exec_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  Task& task = context.task;
  // A program in an omitted place must be replayed without it.
  if (const auto program = find_named(parts, context, first_name(call), follows_link(call))) {
    parts.emitter.emit(context, {.kind = OperationKind::execute, .path = program->path});
    if (parts.executed && call.result >= 0) {
      parts.executed("/" + parts.builder.tables().paths.relative(program->path));
    }
  }
  if (call.result < 0) return;
  end_tasks(parts, *task.process, &task, call.enter_ns);
  parts.tasks.rename(task);
  if (task.files.use_count() > 1) task.files = std::make_shared<DescriptorTable>(*task.files);
  parts.files.drop_all(task, call.exit_ns, call.exit_ns, task.files->take_close_on_exec());
  parts.files.drop_all(task, call.exit_ns, call.exit_ns, task.files->take_held());
  leave_memory(parts, task, call.exit_ns);
  task.memory = std::make_shared<AddressSpace>();
  const std::size_t slash = call.path.rfind('/');
  const std::string name = call.path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (!name.empty()) parts.builder.thread(task.number).name = name;
}

void wait_call(CallParts& parts, CallContext& context) {
  const std::int64_t result = context.call.result;
  if (result <= 0 || result > UINT32_MAX) return;
  // BPF can report the end of a process after this call. With these options, the call also returns
  // for running processes.
  constexpr std::uint64_t kForMore = WUNTRACED | WCONTINUED | __WALL;
  const Process* const ended = parts.tasks.find_process(static_cast<std::uint32_t>(result));
  if (ended && (context.call.flags & kForMore) == 0) {
    end_tasks(parts, *ended, nullptr, context.call.exit_ns);
  }
  if (const auto leader = parts.tasks.wait_for(static_cast<std::uint32_t>(result))) {
    parts.emitter.emit(context, {.kind = OperationKind::join, .second = *leader});
  }
}

void waited_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  Operation wait{.kind = OperationKind::wait,
                 .flags = static_cast<std::uint32_t>(call.flags),
                 .length = call.length,
                 .second = context.task.number};
  // The replay of the page fault waits for the page, too.
  if (call.mode != 0 && context.task.faulted) wait.flags = wait_flags::kForProcessor;
  if (wait.flags == wait_flags::kForThread) {
    if (const auto other = parts.tasks.number_of(static_cast<std::uint32_t>(call.result))) {
      wait.second = *other;
    } else {
      wait.flags = wait_flags::kForOutside;
    }
  }
  parts.emitter.emit(context, wait);
}

void woke_call(CallParts& parts, CallContext& context) {
  const Task* woken = parts.tasks.find(static_cast<std::uint32_t>(context.call.result));
  if (!woken || woken == &context.task) return;
  parts.emitter.emit(context, {.kind = OperationKind::wake, .second = woken->number});
}

void umask_call(CallParts&, CallContext& context) {
  context.task.fs_state->umask = static_cast<std::uint32_t>(context.call.mode & 0777);
}

void exit_call(CallParts& parts, CallContext& context) {
  end_task(parts, context.task, context.call.exit_ns, true);
}

void exit_group_call(CallParts& parts, CallContext& context) {
  end_tasks(parts, *context.task.process, &context.task, context.call.exit_ns);
  exit_call(parts, context);
}

void end_all_tasks(CallParts& parts, std::uint64_t at_ns) {
  for (Task* task : parts.tasks.all()) end_task(parts, *task, at_ns, false);
}

}  // namespace filereel
