#include "traces/calls/call_explanations.h"

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>

#include "filesets/system/search.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

bool begins_there(int dir, std::string_view path) {
  return dir == SystemCall::kCwd && !path.empty() && !path.starts_with('/');
}

// Possible bases of the call's relative names, the most likely first; empty: there is no doubt.
std::vector<PathId> possible_directories(CallParts& parts, const CallContext& context,
                                         std::uint64_t position) {
  const SystemCall& call = context.call;
  std::vector<PathId> found;
  FsState& now = *context.task.fs_state;
  if (context.task.fs_state.use_count() == 1 && now.past_directories.empty()) return found;
  const bool first = begins_there(call.dir, call.path);
  if (!first && !begins_there(call.dir2, call.path2)) return found;
  const auto add = [&found](PathId path) {
    if (!contains(found, path)) found.push_back(path);
  };
  const std::string& seen = first ? call.dir_path : call.dir2_path;
  bool deleted = false;
  if (seen.starts_with('/')) {
    const PathId directory = parts.paths.real(seen, deleted);
    add(deleted ? parts.paths.removed(directory) : directory);
    // The tracer missed a change, if the call started after the last change that it saw.
    const bool later = position == CallStart::kUnknown ? call.enter_ns >= now.directory_ns
                                                       : position > now.changed_at;
    if (later) now.directory = found.front();
  }
  add(now.directory);
  // The times are not exact enough to tell what overlapped.
  for (const FsState::PastDirectory& stay : now.past_directories) {
    if (position <= stay.until) add(stay.directory);
  }
  return found;
}

bool makes_first_name(const SystemCall& call) {
  if (call.call == Call::open) return (call.flags & O_CREAT) != 0;
  return is_one_of(call.call, {Call::mkdir, Call::mknod, Call::symlink});
}

bool needs_first_name(const SystemCall& call) {
  if (call.call == Call::open) return !makes_first_name(call);
  return is_one_of(call.call, {Call::stat, Call::statfs, Call::access, Call::readlink,
                               Call::truncate, Call::chmod, Call::chown, Call::utimens, Call::chdir,
                               Call::exec, Call::unlink, Call::rmdir});
}

// Names that the result requires and the model contradicts, for the context's working directory.
std::vector<NameNeed> contradictions_here(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  std::vector<NameNeed> found;
  const bool done = call.result >= 0;
  const auto need = [&](const GivenName& name, bool follow, bool exists, bool of_parent = false) {
    std::optional<PathId> path = resolve_name(parts, context, name, follow);
    if (!path || (done && parts.paths.is_in_removed(*path))) return;
    if (of_parent) path = parts.builder.tables().paths.node(*path).parent;
    if (parts.model.presence(*path) ==
        (exists ? TreeModel::Presence::absent : TreeModel::Presence::present)) {
      found.push_back({*path, exists});
    }
  };
  const bool follow = follows_link(call);
  const bool two = call.call == Call::rename || call.call == Call::link;
  if (two || needs_first_name(call)) {
    if (done) need(first_name(call), follow, true);
    if (call.result == -ENOENT) need(first_name(call), follow, false);
  }
  if (two || makes_first_name(call)) {
    const GivenName made = two ? second_name(call) : first_name(call);
    const bool follow_made = follow && !two;
    const bool replaces =
        call.call == Call::rename || (call.call == Call::open && (call.flags & O_EXCL) == 0);
    if (done) need(made, follow_made, true, true);
    if (done && !replaces) need(made, follow_made, false);
    if (call.result == -EEXIST) need(made, follow_made, true);
  }
  return found;
}

// Whether the result is possible for the context's working directory.
bool fits(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.call == Call::open && call.result >= 0 && names_file(call.result_path) &&
      (call.flags & open_flags::kTemporary) != open_flags::kTemporary) {
    bool deleted = false;
    const PathId real = parts.paths.real(call.result_path, deleted);
    if (!deleted && resolve_name(parts, context, first_name(call), follows_link(call)) != real) {
      return false;
    }
  }
  return contradictions_here(parts, context).empty();
}

}  // namespace

std::vector<NameNeed> contradictions(CallParts& parts, const SystemCall& call,
                                     std::uint64_t position) {
  Task* task = parts.tasks.find(call.thread);
  if (!task || call.path.empty()) return {};
  CallContext context{call, *task};
  const std::vector<PathId> directories = possible_directories(parts, context, position);
  if (directories.empty()) return contradictions_here(parts, context);
  std::vector<NameNeed> found;
  for (const PathId directory : directories) {
    context.directory = directory;
    if (fits(parts, context)) return {};
    if (found.empty()) found = contradictions_here(parts, context);
  }
  // It was opened elsewhere.
  if (found.empty()) found.push_back({parts.builder.path(call.result_path), true});
  return found;
}

bool could_explain(CallParts& parts, const SystemCall& other, const SystemCall& call,
                   const NameNeed& need) {
  const NameEffect effect = effect_on_names(other.call);
  Task* task = parts.tasks.find(other.thread);
  if (effect == NameEffect::none || !task || other.path.empty() || other.thread == call.thread) {
    return false;
  }
  CallContext context{other, *task};
  const auto concerns = [&](const GivenName& name) {
    const std::optional<PathId> path = resolve_name(parts, context, name, false);
    return path && parts.paths.is_below(need.path, *path);
  };
  if (!need.exists) return effect != NameEffect::makes && concerns(first_name(other));
  if (effect == NameEffect::moves || other.call == Call::link) {
    return other.path2.empty() || concerns(second_name(other));
  }
  return effect == NameEffect::makes && concerns(first_name(other));
}

bool could_move(CallParts& parts, const SystemCall& other, const SystemCall& call) {
  if (other.call != Call::chdir && other.call != Call::fchdir) return false;
  if (other.thread == call.thread) return false;
  const Task* mover = parts.tasks.find(other.thread);
  const Task* task = parts.tasks.find(call.thread);
  // What a thread shares is unknown until the fork that created it returns.
  const bool shares =
      mover ? task && mover->fs_state == task->fs_state : task && parts.tasks.is_new(other.thread);
  return shares && (begins_there(call.dir, call.path) || begins_there(call.dir2, call.path2));
}

bool could_empty(CallParts& parts, const SystemCall& other, const SystemCall& call) {
  const NameEffect effect = effect_on_names(other.call);
  if (call.call != Call::rmdir || call.result < 0 || other.path.empty()) return false;
  if (effect != NameEffect::removes && effect != NameEffect::moves) return false;
  Task* remover = parts.tasks.find(call.thread);
  Task* task = parts.tasks.find(other.thread);
  if (!remover || !task || remover == task) return false;
  CallContext removal{call, *remover}, context{other, *task};
  const auto directory = resolve_name(parts, removal, first_name(call), false);
  if (!directory) return false;
  const auto path = resolve_name(parts, context, first_name(other), false);
  return path && parts.builder.tables().paths.node(*path).parent == *directory &&
         parts.model.presence(*path) == TreeModel::Presence::present;
}

bool could_unlock(CallParts& parts, const SystemCall& other, const SystemCall& call) {
  Task* task = parts.tasks.find(call.thread);
  Task* unlocker = parts.tasks.find(other.thread);
  if (!task || !unlocker || task == unlocker) return false;
  const DescriptionRef file = parts.files.known(*task, first_file(call));
  const DescriptionRef unlocked = parts.files.known(*unlocker, first_file(other));
  if (!file || !unlocked) return false;
  // Record locks belong to the process, other locks to the open file. A holder does not block
  // itself.
  if (call.call == Call::record_lock ? task->process == unlocker->process : file == unlocked) {
    return false;
  }
  if (file->slot == kNoFile || unlocked->slot == kNoFile) return file->path == unlocked->path;
  return parts.model.file_of_slot(file->slot) == parts.model.file_of_slot(unlocked->slot);
}

std::array<CallStart::Used, 2> used_files(CallParts& parts, const SystemCall& call) {
  if (!is_one_of(call.call, {Call::read, Call::write, Call::ftruncate, Call::fallocate, Call::fsync,
                             Call::fdatasync, Call::sync_file_range, Call::getdents,
                             Call::copy_file_range, Call::sendfile, Call::splice, Call::submit})) {
    return {};
  }
  Task* task = parts.tasks.find(call.thread);
  if (!task) return {};
  const auto used = [&](const FileHandle& handle) {
    const DescriptorEntry* entry = task->files->find(handle.descriptor);
    CallStart::Used one{.file = parts.files.known(*task, handle)};
    one.is_other = !one.file && handle.file == 0 && entry && !entry->description;
    return one;
  };
  return {used(first_file(call)), used(second_file(call))};
}

bool may_be_file(CallParts& parts, const SystemCall& call) {
  if (!call.fd_path.empty() && !names_file(call.fd_path)) return false;
  Task* task = parts.tasks.find(call.thread);
  const DescriptorEntry* descriptor = task ? task->files->find(call.fd) : nullptr;
  return !descriptor || descriptor->description;
}

void choose_directory(CallParts& parts, CallContext& context, std::uint64_t position) {
  const std::vector<PathId> directories = possible_directories(parts, context, position);
  if (directories.empty()) return;
  for (const PathId directory : directories) {
    context.directory = directory;
    if (fits(parts, context)) return;
  }
  context.directory = directories.front();
  // The change was missed, or waiting for it took too long. The path of an opened file reveals it.
  const SystemCall& call = context.call;
  const std::string& opened = call.result_path;
  if (begins_there(call.dir, call.path) && opened.size() > call.path.size() + 1 &&
      names_file(opened) && opened.ends_with("/" + call.path)) {
    bool deleted = false;
    const PathId directory =
        parts.paths.real(opened.substr(0, opened.size() - call.path.size() - 1), deleted);
    if (!deleted) context.directory = directory;
  }
}

bool is_race(CallParts& parts, CallContext& context, std::uint64_t position) {
  if (context.call.path.empty() || !parts.tasks.find(context.call.thread)) return false;
  for (const NameNeed& need : contradictions_here(parts, context)) {
    const auto change = parts.model.last_change(need.path);
    if (change && change->position >= position &&
        change->before !=
            (need.exists ? TreeModel::Presence::absent : TreeModel::Presence::present)) {
      parts.builder.approximated("results that depend on races");
      return true;
    }
  }
  return false;
}

}  // namespace filereel
