#include "traces/calls/call_translation.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

namespace filereel {
namespace {

// Errors that the kernel keeps to itself, but tracers show.
constexpr int kFirstRestart = 512, kLastRestart = 530;

// The call does not exist here, or is made again.
bool is_no_answer(int error) {
  return error == ENOSYS || error == EINTR || error == EAGAIN || error == ECANCELED ||
         (error >= kFirstRestart && error <= kLastRestart);
}

// The call was wrong by itself: whatever the files are, it fails.
bool is_wrong(int error) {
  return error == EFAULT || error == EBADF;
}

// What could not be read is a name, too.
bool names_path(const SystemCall& call) {
  return call.fd == SystemCall::kNone && (call.path_unread || !call.path.empty());
}

// The result depends on who asks, and on what the place is like.
bool depends_on_the_place(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
    case EROFS:
    case EXDEV:
    case EBUSY:
    case ETXTBSY:
    case ENOSPC:
    case EDQUOT:
    case EIO:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EOPNOTSUPP:
      return true;
    default:
      return false;
  }
}

// What later calls find is another if it succeeds: a name, or what a file holds.
bool changes_files(const SystemCall& call) {
  switch (call.call) {
    case Call::open:
      return (call.flags & (O_CREAT | O_TRUNC)) != 0;
    case Call::copy_file_range:
    case Call::clone_range:
    case Call::mkdir:
    case Call::rmdir:
    case Call::unlink:
    case Call::rename:
    case Call::link:
    case Call::symlink:
    case Call::mknod:
    case Call::truncate:
      return true;
    default:
      return false;
  }
}

// A directory that is named "." or ".." is not removed, whatever it holds. Operations have real
// names: replayed, it would be if it is empty.
bool failed_by_dots(const SystemCall& call) {
  if (call.call != Call::rmdir) return false;
  std::string_view path = call.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  path.remove_prefix(path.rfind('/') + 1);
  return path == "." || path == "..";
}

// It failed, or may have, for a slash at the end of its new name or of a file's. Operations have no
// such slash: replayed, they would succeed.
bool failed_by_slash(const SystemCall& call) {
  const bool first = call.path.ends_with('/'), second = call.path2.ends_with('/');
  switch (call.call) {
    case Call::open:
      return first && (call.flags & (O_CREAT | O_TRUNC)) != 0 && call.result != -EEXIST;
    case Call::symlink:
    case Call::mknod:
      return first && call.result != -EEXIST;
    case Call::link:
      return second && call.result != -EEXIST;
    case Call::unlink:
    case Call::truncate:
      return first && call.result == -ENOTDIR;
    case Call::rename:
      return (first || second) && call.result == -ENOTDIR;
    default:
      return false;
  }
}

bool is_lock(const SystemCall& call) {
  return call.call == Call::flock || call.call == Call::record_lock;
}

}  // namespace

CallTranslation::CallTranslation(TraceBuilder& builder, const ResolverOptions& options)
    : builder_(builder),
      model_(builder.model()),
      paths_(builder, options.link_at),
      kept_(paths_,
            options.under.empty() ? std::nullopt : std::optional(builder.path(options.under))),
      working_directory_(builder.path(options.working_directory)),
      sees_faults_(options.faults) {}

std::uint32_t CallTranslation::process_of(std::uint32_t thread) {
  const Task* task = tasks_.find(thread);
  return task ? task->process->id : thread;
}

Task& CallTranslation::new_root_task(const SystemCall& call) {
  const std::uint32_t process = call.process != 0 ? call.process : call.thread;
  const Process* known = tasks_.find_process(process);
  const Task* sibling = known ? known->tasks.front() : nullptr;
  const std::uint32_t number =
      builder_.add_thread({.process = process, .thread = call.thread, .name = {}});
  Task& task = tasks_.add(call.thread, process, number);
  if (sibling) {  // a thread that nobody was seen to make
    task.files = sibling->files;
    task.surroundings = sibling->surroundings;
    task.memory = sibling->memory;
  } else {
    task.files = std::make_shared<DescriptorTable>();
    task.surroundings = std::make_shared<Surroundings>();
    task.surroundings->directory = working_directory_;
    task.memory = std::make_shared<AddressSpace>();
    task.process->from_start = call.call == Call::exec && call.result >= 0;
  }
  task.first_ns = call.enter_ns;
  return task;
}

Task* CallTranslation::task_of(const SystemCall& call) {
  if (Task* task = tasks_.find(call.thread)) return task;
  if (call.call == Call::exit || call.call == Call::exit_group) return nullptr;
  if (call.call == Call::exec && call.result >= 0) {
    // Another thread than the first goes on under the first one's number.
    if (Process* process = tasks_.find_process(call.thread)) return process->tasks.front();
  }
  if (tasks_.ended_after(call.thread, call.enter_ns)) {
    builder_.lost("calls that returned after their process had ended");
    return nullptr;
  }
  return &new_root_task(call);
}

void CallTranslation::left_out() {
  builder_.approximated("calls on /proc, /sys and /dev left out");
}

void CallTranslation::count_wrong(Task& task, const SystemCall& call) {
  const auto is_file = [&](const Handle& handle) {
    // Asked for what has a name already, so that a number that stands for nothing makes no file.
    return known_file(task, handle) ||
           (names_file(handle.path) && find_file(task, call, handle, Use::other));
  };
  // Duplicates of descriptors are no operations.
  const bool uses_file =
      call.call != Call::dup && (is_file(first_file(call)) || is_file(second_file(call)));
  if (!uses_file && !names_path(call)) return;
  constexpr std::string_view kReason = "calls with a bad pointer or descriptor";
  builder_.lost(call.name.empty() ? std::string(kReason)
                                  : fmt::format("{}: {}", kReason, call.name));
}

bool CallTranslation::is_worth_nothing(Task& task, const SystemCall& call) {
  if (call.result >= 0 || call.call == Call::close) return false;
  const auto error = static_cast<int>(std::min<std::int64_t>(-(call.result + 1), 4096) + 1);
  if (is_no_answer(error)) return !(error == EAGAIN && is_lock(call));
  if (is_wrong(error)) {
    count_wrong(task, call);
    return true;
  }
  if (error == ENAMETOOLONG) {
    builder_.lost("calls with names that are too long");
    return true;
  }
  // Replayed where it is allowed, it would change what later calls find.
  if (depends_on_the_place(error) && changes_files(call)) {
    builder_.lost("changes that failed for want of rights or room");
    return true;
  }
  if (failed_by_slash(call)) {
    builder_.lost("changes that failed for a slash at the end of a name");
    return true;
  }
  if (failed_by_dots(call)) {
    builder_.lost("changes that failed for a name that is . or ..");
    return true;
  }
  return error > 4095;
}

void CallTranslation::translate(const SystemCall& call, const Beginning& beginning) {
  Task* task = task_of(call);
  if (task && !is_worth_nothing(*task, call)) {
    moment_ = directory_of_the_moment(*task, call, beginning.position);
    beginning_ = &beginning;
    blind_ = false;
    race_ = beginning.position < builder_.operations() && is_race(call, beginning.position);
    too_long_ = false;
    dispatch(*task, call);
    if (too_long_) builder_.lost("calls with paths that are too long");
    beginning_ = nullptr;
    race_ = false;
    moment_.reset();
  }
  while (!used_.empty()) {  // one after the other: the last to go closes
    const DescriptionRef file = std::move(used_.back());
    used_.pop_back();
    release(call.thread, file, call.exit_ns);
  }
  release(call.thread, beginning.file, call.exit_ns);
}

void CallTranslation::release(std::uint32_t thread, const DescriptionRef& file,
                              std::uint64_t at_ns) {
  if (!file || file.use_count() > 1 || file->slot == kNoFile) return;
  if (const DescriptionRef first = give_back(*file)) return release(thread, first, at_ns);
  Task* task = tasks_.find(thread);
  if (!task) {  // it has ended in the middle of the call
    const std::vector<Task*> others = tasks_.all();
    task = others.empty() ? &last_ended_ : others.front();
  }
  Operation close;
  close.kind = OperationKind::close;
  close.file = file->slot;
  emit_at(*task, at_ns, at_ns, close);
  builder_.free_slot(file->slot);
  open_files_.forget(*file);
}

bool CallTranslation::is_race(const SystemCall& call, std::uint64_t position) {
  for (const Need& need : contradictions(call, position)) {
    const auto change = model_.last_change(need.path);
    if (change && change->position >= position &&
        change->before !=
            (need.exists ? TreeModel::Presence::absent : TreeModel::Presence::present)) {
      builder_.approximated("results of races");
      return true;
    }
  }
  return false;
}

void CallTranslation::dispatch(Task& task, const SystemCall& call) {
  switch (call.call) {
    case Call::open:
      return open_call(task, call);
    case Call::close:
      return close_call(task, call);
    case Call::close_range:
      return close_range_call(task, call);
    case Call::dup:
      return dup_call(task, call);
    case Call::set_cloexec:
      if (DescriptorEntry* descriptor = task.files->find(call.fd); descriptor && call.result >= 0) {
        descriptor->close_on_exec = call.flags != 0;
      }
      return;
    case Call::set_flags:
      return set_flags_call(task, call);
    case Call::new_descriptor:
      return new_descriptor_call(task, call);
    case Call::new_pair:
      if (call.result < 0) return;
      open_files_.bind(call.file, nullptr);
      open_files_.bind(call.file2, nullptr);
      put(task, call, call.fd, nullptr, (call.flags & O_CLOEXEC) != 0);
      return put(task, call, call.fd2, nullptr, (call.flags & O_CLOEXEC) != 0);

    case Call::read:
    case Call::write:
      return data_call(task, call);
    case Call::copy_file_range:
    case Call::sendfile:
    case Call::splice:
    case Call::clone_range:
      return copy_call(task, call);
    case Call::seek:
      return seek_call(task, call);
    case Call::getdents:
      return list_call(task, call);
    case Call::submit:
      return submit_call(task, call);
    case Call::complete:
      return complete_call(task, call);

    case Call::ftruncate:
    case Call::fallocate:
    case Call::fsync:
    case Call::fdatasync:
    case Call::sync_file_range:
    case Call::syncfs:
    case Call::sync:
    case Call::fstat:
    case Call::fstatfs:
    case Call::fchmod:
    case Call::fchown:
    case Call::futimens:
    case Call::fadvise:
    case Call::readahead:
    case Call::flock:
    case Call::record_lock:
      return file_call(task, call);
    case Call::getxattr:
    case Call::setxattr:
    case Call::listxattr:
    case Call::removexattr:
      return call.fd != SystemCall::kNone ? file_call(task, call) : path_call(task, call);

    case Call::truncate:
    case Call::stat:
    case Call::statfs:
    case Call::access:
    case Call::readlink:
    case Call::mkdir:
    case Call::rmdir:
    case Call::unlink:
    case Call::symlink:
    case Call::chmod:
    case Call::chown:
    case Call::utimens:
      return path_call(task, call);
    case Call::rename:
      return rename_call(task, call);
    case Call::link:
      return link_call(task, call);
    case Call::mknod:
      return mknod_call(task, call);
    case Call::chdir:
    case Call::fchdir:
    case Call::chroot:
      return chdir_call(task, call);

    case Call::mmap:
      return map_call(task, call);
    case Call::munmap:
    case Call::mremap:
    case Call::msync:
    case Call::madvise:
    case Call::fault:
      return mapping_call(task, call);

    case Call::fork:
      return fork_call(task, call);
    case Call::unshare:
      return unshare_call(task, call);
    case Call::exec:
      return exec_call(task, call);
    case Call::exit:
      return end_task(task, call.exit_ns, true);
    case Call::exit_group: {
      const std::vector<Task*> tasks = task.process->tasks;
      for (Task* other : tasks) {
        if (other != &task) end_task(*other, call.exit_ns, true);
      }
      return end_task(task, call.exit_ns, true);
    }
    case Call::wait:
      if (call.result > 0 && call.result <= UINT32_MAX) {
        if (const auto leader = tasks_.wait_for(static_cast<std::uint32_t>(call.result))) {
          Operation join;
          join.kind = OperationKind::join;
          join.second = *leader;
          emit(task, call, join);
        }
      }
      return;
    case Call::umask:
      task.surroundings->umask = static_cast<std::uint32_t>(call.mode & 0777);
      return;
  }
}

void CallTranslation::emit(Task& task, const SystemCall& call, Operation operation) {
  if (call.result < 0) {
    operation.expected = call.result;
    const auto error = static_cast<int>(-call.result);
    if (depends_on_the_place(error) || error == EAGAIN) operation.loose = true;
  }
  if (race_ || blind_) operation.loose = true;
  if (!operation.loose && kept_.takes(operation)) explain(task, call, operation);
  emit_at(task, call.enter_ns, call.exit_ns, operation);
}

void CallTranslation::emit_at(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                              Operation operation) {
  if (task.reap_due) reap(task);
  const bool takes = kept_.takes(operation);
  kept_.follow(operation);
  if (!takes) {
    // What lies inside may be named through it.
    const bool link =
        operation.kind == OperationKind::symlink || operation.kind == OperationKind::read_link;
    if (link && operation.expected >= 0) paths_.expect_link(operation.path, operation.text);
    return;
  }
  operation.thread = task.number;
  RecordedOperation recorded;
  recorded.operation = operation;
  // Within a thread time does not go back, whatever the tracer says.
  recorded.start_ns = std::max(begin_ns, task.last_start_ns);
  recorded.duration_ns = end_ns > recorded.start_ns ? end_ns - recorded.start_ns : 0;
  task.last_start_ns = recorded.start_ns;
  task.has_operations = true;
  builder_.add(recorded);
}

void CallTranslation::finish(std::uint64_t at_ns) {
  for (Task* task : tasks_.all()) end_task(*task, at_ns, false);
}

}  // namespace filereel
