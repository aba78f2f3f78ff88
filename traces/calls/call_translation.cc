#include "traces/calls/call_translation.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
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
      paths_(builder, options.link_at),
      emitter_(builder, paths_,
               options.under.empty() ? std::nullopt : std::optional(builder.path(options.under))),
      files_(builder, paths_, emitter_),
      names_(builder, paths_, files_),
      explanations_(builder, paths_, files_, names_, tasks_),
      mappings_(builder, paths_, emitter_, files_, options.faults),
      processes_(builder, paths_, emitter_, files_, names_, mappings_, tasks_,
                 builder.path(options.working_directory)),
      open_calls_(builder, paths_, emitter_, files_, names_),
      file_calls_(builder, paths_, emitter_, files_, names_, tasks_),
      data_calls_(builder, emitter_, files_, tasks_) {}

void CallTranslation::translate(const SystemCall& call, CallBeginning beginning) {
  if (Task* task = processes_.task_of(call)) {
    CallContext context{call, *task};
    if (!is_worth_nothing(context)) {
      explanations_.choose_directory(context, beginning.position);
      context.beginning = &beginning;
      context.race = beginning.position < builder_.operations() &&
                     explanations_.is_race(context, beginning.position);
      context.blind = context.too_long = false;
      dispatch(context);
      if (context.too_long) builder_.lost("calls with paths that are too long");
    }
    while (!context.used.empty()) {  // one after the other: the last to go closes
      DescriptionRef file = std::move(context.used.back());
      context.used.pop_back();
      release(call.thread, std::move(file), call.exit_ns);
    }
  }
  release(call.thread, std::move(beginning.file), call.exit_ns);
}

void CallTranslation::release(std::uint32_t thread, DescriptionRef file, std::uint64_t at_ns) {
  if (!OpenFiles::is_last(file)) return;
  files_.drop(tasks_.acting_for(thread), at_ns, at_ns, std::move(file));
}

void CallTranslation::count_wrong(CallContext& context) {
  const SystemCall& call = context.call;
  const auto is_file = [&](const FileHandle& handle) {
    // Asked for what has a name already, so that a number that stands for nothing makes no file.
    return files_.known(context.task, handle) ||
           (names_file(handle.path) && files_.find(context, handle, FileUse::other));
  };
  // Duplicates of descriptors are no operations.
  const bool uses_file =
      call.call != Call::dup && (is_file(first_file(call)) || is_file(second_file(call)));
  if (!uses_file && !names_path(call)) return;
  constexpr std::string_view kReason = "calls with a bad pointer or descriptor";
  builder_.lost(call.name.empty() ? std::string(kReason)
                                  : fmt::format("{}: {}", kReason, call.name));
}

bool CallTranslation::is_worth_nothing(CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result >= 0 || call.call == Call::close) return false;
  const auto error = static_cast<int>(std::min<std::int64_t>(-(call.result + 1), 4096) + 1);
  if (is_no_answer(error)) return !(error == EAGAIN && is_lock(call));
  if (is_wrong(error)) {
    count_wrong(context);
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

void CallTranslation::dispatch(CallContext& context) {
  using enum OperationKind;
  const SystemCall& call = context.call;
  const auto on_file = [&](OperationKind kind) { file_calls_.on_file(context, kind); };
  const auto on_path = [&](OperationKind kind) { file_calls_.on_path(context, kind); };
  const auto on_either = [&](OperationKind kind) {
    return call.fd != SystemCall::kNone ? on_file(kind) : on_path(kind);
  };
  switch (call.call) {
    case Call::open:
      return open_calls_.open(context);
    case Call::close:
      return files_.close(context);
    case Call::close_range:
      return files_.close_range(context);
    case Call::dup:
      return files_.duplicate(context);
    case Call::set_cloexec:
      return files_.set_cloexec(context);
    case Call::new_descriptor:
      return files_.new_descriptor(context);
    case Call::new_pair:
      return files_.new_pair(context);

    case Call::read:
      return data_calls_.read(context);
    case Call::write:
      return data_calls_.write(context);
    case Call::copy_file_range:
    case Call::sendfile:
    case Call::splice:
    case Call::clone_range:
      return data_calls_.copy(context);
    case Call::seek:
      return data_calls_.seek(context);
    case Call::getdents:
      return data_calls_.list(context);
    case Call::submit:
      return data_calls_.submit(context);
    case Call::complete:
      return data_calls_.complete(context);

    case Call::ftruncate:
      return on_file(truncate);
    case Call::fallocate:
      return on_file(allocate);
    case Call::fsync:
      return on_file(sync);
    case Call::fdatasync:
      return on_file(sync_data);
    case Call::sync_file_range:
      return on_file(sync_range);
    case Call::syncfs:
      return on_file(sync_volume);
    case Call::sync:
      return emitter_.emit(context, {.kind = sync_volume});
    case Call::fstat:
      return on_file(stat);
    case Call::fstatfs:
      return on_file(stat_volume);
    case Call::fchmod:
      return on_file(change_mode);
    case Call::fchown:
      return on_file(change_owner);
    case Call::futimens:
      return on_file(set_times);
    case Call::fadvise:
      return on_file(advise);
    case Call::readahead:
      return on_file(read_ahead);
    case Call::flock:
    case Call::record_lock:
      return on_file(lock);
    case Call::set_flags:
      return on_file(set_flags);
    case Call::getxattr:
      return on_either(get_xattr);
    case Call::setxattr:
      return on_either(set_xattr);
    case Call::listxattr:
      return on_either(list_xattr);
    case Call::removexattr:
      return on_either(remove_xattr);

    case Call::truncate:
      return on_path(truncate);
    case Call::stat:
      return on_path(stat);
    case Call::statfs:
      return on_path(stat_volume);
    case Call::access:
      return on_path(access);
    case Call::readlink:
      return on_path(read_link);
    case Call::mkdir:
      return on_path(make_directory);
    case Call::rmdir:
      return on_path(remove_directory);
    case Call::unlink:
      return on_path(unlink);
    case Call::symlink:
      return on_path(symlink);
    case Call::chmod:
      return on_path(change_mode);
    case Call::chown:
      return on_path(change_owner);
    case Call::utimens:
      return on_path(set_times);
    case Call::rename:
      return file_calls_.rename(context);
    case Call::link:
      return file_calls_.link(context);
    case Call::mknod:
      return file_calls_.make_node(context);
    case Call::chdir:
    case Call::fchdir:
      return file_calls_.change_directory(context);
    case Call::chroot:
      return file_calls_.change_root(context);

    case Call::mmap:
      return mappings_.map(context);
    case Call::munmap:
      return mappings_.unmap(context);
    case Call::mremap:
      return mappings_.remap(context);
    case Call::msync:
    case Call::madvise:
      return mappings_.use(context);
    case Call::fault:
      return mappings_.fault(context);

    case Call::fork:
      return processes_.fork(context);
    case Call::unshare:
      return processes_.unshare(context);
    case Call::exec:
      return processes_.exec(context);
    case Call::exit:
      return processes_.exit(context);
    case Call::exit_group:
      return processes_.exit_group(context);
    case Call::wait:
      return processes_.wait(context);
    case Call::umask:
      context.task.surroundings->umask = static_cast<std::uint32_t>(call.mode & 0777);
      return;
  }
}

}  // namespace filereel
