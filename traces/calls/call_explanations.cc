#include "traces/calls/call_explanations.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>

namespace filereel {
namespace {

enum class Effect : std::uint8_t { none, makes, removes, moves };

Effect effect_of(const SystemCall& call) {
  switch (call.call) {
    case Call::open:  // with which flags may not be known before it returns
    case Call::mkdir:
    case Call::symlink:
    case Call::mknod:
    case Call::link:
      return Effect::makes;
    case Call::unlink:
    case Call::rmdir:
      return Effect::removes;
    case Call::rename:
      return Effect::moves;
    default:
      return Effect::none;
  }
}

bool begins_there(int dir, std::string_view path) {
  return dir == SystemCall::kCwd && !path.empty() && !path.starts_with('/');
}

}  // namespace

std::vector<NameNeed> CallExplanations::contradictions(const SystemCall& call,
                                                       std::uint64_t position) {
  Task* task = tasks_.find(call.thread);
  if (!task || call.path.empty()) return {};
  CallContext context{call, *task};
  const std::vector<PathId> directories = possible_directories(context, position);
  if (directories.empty()) return contradictions_here(context);
  std::vector<NameNeed> found;
  for (const PathId directory : directories) {
    context.directory = directory;
    if (fits(context)) return {};
    if (found.empty()) found = contradictions_here(context);
  }
  // It was opened somewhere else.
  if (found.empty()) found.push_back({builder_.path(call.result_path), true});
  return found;
}

std::vector<NameNeed> CallExplanations::contradictions_here(CallContext& context) {
  const SystemCall& call = context.call;
  std::vector<NameNeed> found;
  const bool done = call.result >= 0;
  const auto need = [&](const GivenName& name, bool follow, bool exists, bool of_parent = false) {
    std::optional<PathId> path = names_.resolve(context, name, follow);
    if (!path) return;
    if (of_parent) path = builder_.tables().paths.node(*path).parent;
    if (builder_.model().presence(*path) ==
        (exists ? TreeModel::Presence::absent : TreeModel::Presence::present)) {
      found.push_back({*path, exists});
    }
  };
  const GivenName first = first_name(call), second = second_name(call);
  const bool follow = Names::follows(call);
  switch (call.call) {
    case Call::open:
      if (call.flags & O_CREAT) {
        if (done) need(first, follow, true, true);
        if (done && (call.flags & O_EXCL)) need(first, follow, false);
        if (call.result == -EEXIST) need(first, follow, true);
        break;
      }
      [[fallthrough]];
    case Call::stat:
    case Call::statfs:
    case Call::access:
    case Call::readlink:
    case Call::truncate:
    case Call::chmod:
    case Call::chown:
    case Call::utimens:
    case Call::chdir:
    case Call::exec:
    case Call::unlink:
    case Call::rmdir:
      if (done) need(first, follow, true);
      if (call.result == -ENOENT) need(first, follow, false);
      break;
    case Call::mkdir:
    case Call::mknod:
    case Call::symlink:
      if (done) need(first, follow, false);
      if (done) need(first, follow, true, true);
      if (call.result == -EEXIST) need(first, follow, true);
      break;
    case Call::rename:
    case Call::link:
      if (done) need(first, follow, true);
      if (done) need(second, false, true, true);
      if (done && call.call == Call::link) need(second, false, false);
      if (call.result == -EEXIST) need(second, false, true);
      if (call.result == -ENOENT) need(first, follow, false);
      break;
    default:
      break;
  }
  return found;
}

bool CallExplanations::could_explain(const SystemCall& other, const SystemCall& call,
                                     const NameNeed& need) {
  const Effect effect = effect_of(other);
  Task* task = tasks_.find(other.thread);
  if (effect == Effect::none || !task || other.path.empty() || other.thread == call.thread) {
    return false;
  }
  CallContext context{other, *task};
  const auto concerns = [&](const GivenName& name) {
    const std::optional<PathId> path = names_.resolve(context, name, false);
    return path && paths_.is_below(need.path, *path);
  };
  if (!need.exists) return effect != Effect::makes && concerns(first_name(other));
  if (effect == Effect::moves || other.call == Call::link) {
    return other.path2.empty() || concerns(second_name(other));
  }
  return effect == Effect::makes && concerns(first_name(other));
}

bool CallExplanations::could_move(const SystemCall& other, const SystemCall& call) {
  if (other.call != Call::chdir && other.call != Call::fchdir) return false;
  if (other.thread == call.thread) return false;
  const Task* mover = tasks_.find(other.thread);
  const Task* task = tasks_.find(call.thread);
  // What the thread shares is not known before the fork that made it has returned.
  const bool shares = mover ? task && mover->surroundings == task->surroundings
                            : task && tasks_.is_new(other.thread);
  return shares && (begins_there(call.dir, call.path) || begins_there(call.dir2, call.path2));
}

bool CallExplanations::could_empty(const SystemCall& other, const SystemCall& call) {
  const Effect effect = effect_of(other);
  if (call.call != Call::rmdir || call.result < 0 || other.path.empty()) return false;
  if (effect != Effect::removes && effect != Effect::moves) return false;
  Task* remover = tasks_.find(call.thread);
  Task* task = tasks_.find(other.thread);
  if (!remover || !task || remover == task) return false;
  CallContext removal{call, *remover}, context{other, *task};
  const auto directory = names_.resolve(removal, first_name(call), false);
  if (!directory) return false;
  const auto path = names_.resolve(context, first_name(other), false);
  return path && builder_.tables().paths.node(*path).parent == *directory &&
         builder_.model().presence(*path) == TreeModel::Presence::present;
}

bool CallExplanations::could_unlock(const SystemCall& other, const SystemCall& call) {
  Task* task = tasks_.find(call.thread);
  Task* unlocker = tasks_.find(other.thread);
  if (!task || !unlocker || task == unlocker) return false;
  const DescriptionRef file = files_.known(*task, first_file(call));
  const DescriptionRef unlocked = files_.known(*unlocker, first_file(other));
  if (!file || !unlocked) return false;
  // Record locks are the process's, the others the open file's: who has one is in nobody's way.
  if (call.call == Call::record_lock ? task->process == unlocker->process : file == unlocked) {
    return false;
  }
  if (file->slot == kNoFile || unlocked->slot == kNoFile) return file->path == unlocked->path;
  const TreeModel& model = builder_.model();
  return model.file_of_slot(file->slot) == model.file_of_slot(unlocked->slot);
}

DescriptionRef CallExplanations::used_file(const SystemCall& call) {
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
  return task ? files_.known(*task, first_file(call)) : nullptr;
}

bool CallExplanations::may_be_file(const SystemCall& call) {
  if (!call.fd_path.empty() && !names_file(call.fd_path)) return false;
  Task* task = tasks_.find(call.thread);
  const DescriptorEntry* descriptor = task ? task->files->find(call.fd) : nullptr;
  return !descriptor || descriptor->description;
}

std::vector<PathId> CallExplanations::possible_directories(const CallContext& context,
                                                           std::uint64_t position) {
  const SystemCall& call = context.call;
  std::vector<PathId> found;
  Surroundings& now = *context.task.surroundings;
  if (context.task.surroundings.use_count() == 1 && now.stays.empty()) return found;
  const bool first = begins_there(call.dir, call.path);
  if (!first && !begins_there(call.dir2, call.path2)) return found;
  const auto add = [&found](PathId path) {
    if (std::ranges::find(found, path) == found.end()) found.push_back(path);
  };
  const std::string& seen = first ? call.dir_path : call.dir2_path;
  bool deleted = false;
  if (seen.starts_with('/')) {
    add(paths_.real(seen, deleted));
    // A change that the tracer has missed, if the call began after the last one that it saw.
    const bool later = position == CallBeginning::kUnknown ? call.enter_ns >= now.directory_ns
                                                           : position > now.changed_at;
    if (later) now.directory = found.front();
  }
  add(now.directory);
  // Times are not exact enough to say what overlapped.
  for (const Surroundings::Stay& stay : now.stays) {
    if (position <= stay.until) add(stay.directory);
  }
  return found;
}

bool CallExplanations::fits(CallContext& context) {
  const SystemCall& call = context.call;
  if (call.call == Call::open && call.result >= 0 && names_file(call.result_path) &&
      (call.flags & O_TMPFILE) != O_TMPFILE) {
    bool deleted = false;
    const PathId real = paths_.real(call.result_path, deleted);
    if (!deleted && names_.resolve(context, first_name(call), Names::follows(call)) != real) {
      return false;
    }
  }
  return contradictions_here(context).empty();
}

void CallExplanations::choose_directory(CallContext& context, std::uint64_t position) {
  const std::vector<PathId> directories = possible_directories(context, position);
  if (directories.empty()) return;
  for (const PathId directory : directories) {
    context.directory = directory;
    if (fits(context)) return;
  }
  context.directory = directories.front();
  // The change was missed, or the wait for it was too long: the path of an opened file tells it.
  const SystemCall& call = context.call;
  const std::string& opened = call.result_path;
  if (begins_there(call.dir, call.path) && opened.size() > call.path.size() + 1 &&
      names_file(opened) && opened.ends_with("/" + call.path)) {
    bool deleted = false;
    const PathId directory =
        paths_.real(opened.substr(0, opened.size() - call.path.size() - 1), deleted);
    if (!deleted) context.directory = directory;
  }
}

bool CallExplanations::is_race(CallContext& context, std::uint64_t position) {
  if (context.call.path.empty()) return false;
  for (const NameNeed& need : contradictions_here(context)) {
    const auto change = builder_.model().last_change(need.path);
    if (change && change->position >= position &&
        change->before !=
            (need.exists ? TreeModel::Presence::absent : TreeModel::Presence::present)) {
      builder_.approximated("results of races");
      return true;
    }
  }
  return false;
}

}  // namespace filereel
