#include "traces/calls/call_translation.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "filesets/system/search.h"
#include "traces/calls/call_explanations.h"
#include "traces/calls/file_calls.h"
#include "traces/calls/known_calls.h"
#include "traces/calls/mapping_calls.h"
#include "traces/calls/process_calls.h"

namespace filereel {
namespace {

// Errors internal to the kernel that tracers show.
constexpr int kFirstRestart = 512, kLastRestart = 530;

// The call is unavailable here or is restarted.
bool is_ignored_error(int error) {
  return error == ENOSYS || error == EINTR || error == EAGAIN || error == ECANCELED ||
         (error >= kFirstRestart && error <= kLastRestart);
}

// Success changes what later calls find: a name, or the content or permissions of a file.
bool changes_files(const SystemCall& call) {
  if (call.call == Call::open) return (call.flags & (O_CREAT | O_TRUNC)) != 0;
  return names_an_entry(call.call) ||
         is_one_of(call.call,
                   {Call::copy_file_range, Call::clone_range, Call::truncate, Call::chmod});
}

// Whether a descriptor of the call may be a file.
bool may_use_file(CallParts& parts, CallContext& context, const FileHandle& handle) {
  if (handle.descriptor == SystemCall::kNone && handle.file == 0 && handle.path.empty()) {
    return false;
  }
  if (!handle.path.empty()) return names_file(handle.path);
  if (parts.files.known(context.task, handle)) return true;
  // Opened before the trace, unless it is the terminal or a call showed it to be something else.
  return handle.descriptor > 2 && !context.task.files->find(handle.descriptor) &&
         !context.task.process->from_start;
}

// Success changes the content, the size or the attributes of an open file. The lack of a feature is
// not among the errors: a replay on the same file system lacks it, too.
bool changes_open_file(CallParts& parts, CallContext& context, int error) {
  using enum Call;
  const SystemCall& call = context.call;
  if (error == EOPNOTSUPP) return false;
  const bool requests = call.call == submit && call.requested == write;
  if (call.call == sendfile || call.call == splice) {
    return may_use_file(parts, context, first_file(call)) &&
           may_use_file(parts, context, second_file(call));
  }
  return (requests || is_one_of(call.call, {write, ftruncate, fallocate, fchmod})) &&
         may_use_file(parts, context, first_file(call));
}

// A directory named "." or ".." is never removed, and never made in one that is missing. Operations
// use real names: the replay would remove the directory if it is empty, or make the missing one.
bool failed_by_dots(const SystemCall& call) {
  const bool has_two = is_one_of(call.call, {Call::rename, Call::link});
  const bool makes = has_two || is_one_of(call.call, {Call::mkdir, Call::mknod, Call::symlink}) ||
                     (call.call == Call::open && (call.flags & O_CREAT) != 0);
  if (call.call != Call::rmdir && !(makes && call.result == -ENOENT)) return false;
  std::string_view path = has_two ? call.path2 : call.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  path.remove_prefix(path.rfind('/') + 1);
  return path == "." || path == "..";
}

// The call failed, or may have failed, because of a slash at the end of its new name or of a file's
// name. Operations have no such slash: the replay would succeed.
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

// Counts a call that fails regardless of the files, if it names a path or an open file.
void count_invalid_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  const auto is_file = [&](const FileHandle& handle) {
    // Only lookups of what has a name already, so that an unused number does not create a file.
    return parts.files.known(context.task, handle) ||
           (names_file(handle.path) && parts.files.find(context, handle, FileUse::other));
  };
  // Duplicating a descriptor is not an operation.
  const bool uses_file =
      call.call != Call::dup && (is_file(first_file(call)) || is_file(second_file(call)));
  // An unreadable path counts as a name.
  const bool names_path = call.fd == SystemCall::kNone && (call.path_unread || !call.path.empty());
  if (!uses_file && !names_path) return;
  constexpr std::string_view kReason = "calls with a bad pointer or descriptor";
  parts.builder.lost(call.name.empty() ? std::string(kReason)
                                       : fmt::format("{}: {}", kReason, call.name));
}

// RWF_*: operations have none, so that a replay could succeed.
bool has_transfer_flags(const SystemCall& call) {
  return is_one_of(call.call, {Call::read, Call::write, Call::submit}) && call.flags != 0;
}

// Whether a failed call yields no operation; counts it if that is a loss.
bool is_dropped_failure(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result >= 0 || call.call == Call::close) return false;
  const auto error = static_cast<int>(std::min<std::int64_t>(-(call.result + 1), 4096) + 1);
  const bool locks = call.call == Call::flock || call.call == Call::record_lock;
  if (is_one_of(call.call, {Call::unsupported, Call::unsupported_open, Call::unknown})) return true;
  if (is_ignored_error(error)) return !(error == EAGAIN && locks);
  if (error == EFAULT || error == EBADF) {  // fails regardless of the files
    count_invalid_call(parts, context);
    return true;
  }
  if ((error == EINVAL || error == EOPNOTSUPP) && has_transfer_flags(call)) {
    parts.builder.approximated("reads and writes that failed because of their flags omitted");
    return true;
  }
  const bool copies = is_one_of(call.call, {Call::clone_range, Call::copy_file_range});
  const std::string_view loss =
      copies && (error == EOPNOTSUPP || error == EXDEV)
          ? "clones and copies that the file systems do not support"
      : error == ENAMETOOLONG ? "calls with names that are too long"
      // If the replay is permitted to do it, it changes what later calls find.
      : is_environment_error(error) &&
              (changes_files(call) || changes_open_file(parts, context, error))
          ? "changes that failed for lack of permission, space or support"
      : failed_by_slash(call) ? "changes that failed because of a trailing slash"
      : failed_by_dots(call)  ? "changes that failed because of the name . or .."
                              : "";
  if (!loss.empty()) parts.builder.lost(loss);
  return !loss.empty() || error > 4095;
}

// Whether the call uses a file, as far as its arguments show.
bool may_concern_files(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (is_one_of(call.call, {Call::mremap, Call::msync, Call::madvise})) {
    const std::uint64_t end = AddressSpace::end_of(call.address, std::max(call.length, 1UL));
    return !context.task.memory->parts(call.address, end).empty();
  }
  if (call.call == Call::close_range) return true;
  if (may_use_file(parts, context, first_file(call))) return true;
  if (may_use_file(parts, context, second_file(call))) return true;
  const bool has_descriptor = call.fd != SystemCall::kNone || call.file != 0;
  return !has_descriptor && call.call != Call::mmap;
}

// Counts a call with flags whose meaning is unknown. Whether it yields no operation: the replay of
// a failed one could succeed.
bool is_refused_for_flags(CallParts& parts, const CallContext& context) {
  const SystemCall& call = context.call;
  if (!has_unknown_flags(call)) return false;
  const bool failed = call.result < 0;
  const std::string_view name = call.name.empty() ? "requests" : call.name;
  if (failed) {
    parts.builder.approximated("failed calls with flags that are not understood omitted");
  } else {
    parts.builder.lost(fmt::format("calls with flags that are not understood: {}", name));
  }
  return failed;
}

// Counts a call with a value that could not be read. Whether it yields no operation.
bool is_unreadable(CallParts& parts, const CallContext& context, bool concerns_files) {
  const SystemCall& call = context.call;
  if (call.result < 0) {
    parts.builder.approximated("failed calls with values that could not be read omitted");
    return true;
  }
  if (concerns_files) {
    parts.builder.lost(fmt::format("calls with values that could not be read: {}", call.name));
  }
  switch (call.call) {
    case Call::fork:
      return false;  // the new process matters more than what it shares
    case Call::read:
    case Call::write:
      return call.offset == kUnreadableOffset;  // the result shows how much was moved
    case Call::open:
    case Call::dup:
    case Call::new_descriptor:
      put_lost_call(parts, context);
      return true;
    default:
      return true;
  }
}

// Whether the call yields no operation because it is not understood; counts it.
bool is_not_understood(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (!call.unreadable && !has_unknown_flags(call)) return false;
  const bool concerns_files = may_concern_files(parts, context);
  if (call.unreadable && is_unreadable(parts, context, concerns_files)) return true;
  return concerns_files && is_refused_for_flags(parts, context);
}

bool is_lost(const CallContext& context, int descriptor) {
  const DescriptorEntry* const entry = context.task.files->find(descriptor);
  return entry && entry->is_lost;
}

// Counts a call through a descriptor that came from an unsupported call. Whether it is one.
bool is_through_lost(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (is_one_of(call.call, {Call::close, Call::close_range, Call::set_cloexec})) return false;
  const bool uses =
      is_lost(context, call.fd) || (call.call != Call::dup && is_lost(context, call.fd2));
  const bool starts = (!call.path.starts_with('/') && is_lost(context, call.dir)) ||
                      (!call.path2.starts_with('/') && is_lost(context, call.dir2));
  if (!uses && !starts) return false;
  if (call.result < 0) return true;
  parts.builder.lost("calls through descriptors of unsupported system calls");
  if (is_one_of(call.call, {Call::open, Call::dup, Call::new_descriptor, Call::unsupported_open})) {
    put_lost_call(parts, context);
  }
  return true;
}

using Handler = void (*)(CallParts& parts, CallContext& context);

// Adapts one function to several calls; `difference` distinguishes them.
template <auto function, auto difference>
void with(CallParts& parts, CallContext& context) {
  function(parts, context, difference);
}

void unsupported_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  if (call.call == Call::unsupported_open) put_lost_call(parts, context);
  if (!may_concern_files(parts, context)) return;
  parts.builder.lost(fmt::format(
      "{} system calls: {}", call.call == Call::unknown ? "unknown" : "unsupported", call.name));
}

// By Call: the handler of each.
constexpr auto kHandlers = [] {
  using enum OperationKind;
  struct Row {
    Call call;
    Handler handler;
  };
  constexpr Row kRows[] = {
      {Call::open, open_call},
      {Call::close, close_call},
      {Call::close_range, close_range_call},
      {Call::dup, dup_call},
      {Call::set_cloexec, set_cloexec_call},
      {Call::new_descriptor, new_descriptor_call},
      {Call::new_pair, new_pair_call},

      {Call::read, with<transfer_call, read>},
      {Call::write, with<transfer_call, write>},
      {Call::copy_file_range, with<copy_call, CopyMethod::copy_file_range>},
      {Call::sendfile, with<copy_call, CopyMethod::sendfile>},
      {Call::splice, with<copy_call, CopyMethod::splice>},
      {Call::clone_range, with<copy_call, CopyMethod::reflink>},
      {Call::seek, seek_call},
      {Call::getdents, list_call},
      {Call::submit, submit_call},
      {Call::complete, complete_call},

      {Call::ftruncate, with<file_call, truncate>},
      {Call::fallocate, with<file_call, allocate>},
      {Call::fsync, with<file_call, sync>},
      {Call::fdatasync, with<file_call, sync_data>},
      {Call::sync_file_range, with<file_call, sync_range>},
      {Call::syncfs, with<file_call, sync_volume>},
      {Call::fstat, with<file_call, stat>},
      {Call::fstatfs, with<file_call, stat_volume>},
      {Call::fchmod, with<file_call, change_mode>},
      {Call::fchown, with<file_call, change_owner>},
      {Call::futimens, with<file_call, set_times>},
      {Call::fadvise, with<file_call, advise>},
      {Call::readahead, with<file_call, read_ahead>},
      {Call::flock, with<file_call, lock>},
      {Call::record_lock, with<file_call, lock>},
      {Call::set_flags, with<file_call, set_flags>},

      {Call::getxattr, with<attribute_call, get_xattr>},
      {Call::setxattr, with<attribute_call, set_xattr>},
      {Call::listxattr, with<attribute_call, list_xattr>},
      {Call::removexattr, with<attribute_call, remove_xattr>},

      {Call::truncate, with<path_call, truncate>},
      {Call::stat, with<path_call, stat>},
      {Call::statfs, with<path_call, stat_volume>},
      {Call::access, with<path_call, access>},
      {Call::readlink, with<path_call, read_link>},
      {Call::mkdir, with<path_call, make_directory>},
      {Call::rmdir, with<path_call, remove_directory>},
      {Call::unlink, with<path_call, unlink>},
      {Call::symlink, with<path_call, symlink>},
      {Call::chmod, with<path_call, change_mode>},
      {Call::chown, with<path_call, change_owner>},
      {Call::utimens, with<path_call, set_times>},

      {Call::sync, with<file_call, sync_volume>},
      {Call::rename, rename_call},
      {Call::link, link_call},
      {Call::mknod, mknod_call},
      {Call::chdir, chdir_call},
      {Call::fchdir, chdir_call},
      {Call::chroot, chroot_call},

      {Call::mmap, map_call},
      {Call::munmap, unmap_call},
      {Call::mremap, remap_call},
      {Call::msync, mapped_call},
      {Call::madvise, mapped_call},
      {Call::fault, fault_call},

      {Call::fork, fork_call},
      {Call::unshare, unshare_call},
      {Call::unsupported, unsupported_call},
      {Call::unsupported_open, unsupported_call},
      {Call::unknown, unsupported_call},
      {Call::exec, exec_call},
      {Call::exit, exit_call},
      {Call::exit_group, exit_group_call},
      {Call::wait, wait_call},
      {Call::umask, umask_call},
      {Call::waited, waited_call},
      {Call::woke, woke_call},
  };
  std::array<Handler, static_cast<std::size_t>(Call::woke) + 1> handlers{};
  for (const Row& row : kRows) handlers[static_cast<std::size_t>(row.call)] = row.handler;
  return handlers;
}();
static_assert(!contains(kHandlers, nullptr));

}  // namespace

void translate(CallParts& parts, const SystemCall& call, CallStart beginning) {
  if (Task* task = task_of(parts, call)) {
    CallContext context{call, *task};
    if (!is_dropped_failure(parts, context) && !is_through_lost(parts, context) &&
        !is_not_understood(parts, context)) {
      choose_directory(parts, context, beginning.position);
      context.unknown_link = false;  // in a directory that was only tried
      context.beginning = &beginning;
      context.race = beginning.position < parts.builder.operations() &&
                     is_race(parts, context, beginning.position);
      context.too_long = false;  // determined again, and counted
      kHandlers[static_cast<std::size_t>(call.call)](parts, context);
      if (context.too_long) parts.builder.lost("calls with paths that are too long");
    }
    while (!context.used.empty()) {  // one by one: the last one closes the file
      DescriptionRef file = std::move(context.used.back());
      context.used.pop_back();
      release(parts, call.thread, std::move(file), call.exit_ns);
    }
  }
  release(parts, call.thread, std::move(beginning), call.exit_ns);
}

void release(CallParts& parts, std::uint32_t thread, CallStart&& beginning, std::uint64_t at_ns) {
  for (CallStart::Used& used : beginning.used) release(parts, thread, std::move(used.file), at_ns);
}

void release(CallParts& parts, std::uint32_t thread, DescriptionRef file, std::uint64_t at_ns) {
  if (!OpenFiles::is_last(file)) return;
  parts.files.drop(parts.tasks.stand_in_for(thread), at_ns, at_ns, std::move(file));
}

}  // namespace filereel
