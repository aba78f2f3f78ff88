// Which names a call needs by its result, and which it makes or removes: what CallOrder asks.
#include <cerrno>

#include <fcntl.h>

#include "traces/calls/call_translation.h"

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

}  // namespace

std::vector<CallTranslation::Need> CallTranslation::contradictions(const SystemCall& call,
                                                                   std::uint64_t position) {
  Task* task = tasks_.find(call.thread);
  if (!task || call.path.empty()) return {};
  if (moment_) return contradictions_here(*task, call);
  const std::vector<PathId> directories = possible_directories(*task, call, position);
  if (directories.empty()) return contradictions_here(*task, call);
  std::vector<Need> found;
  for (const PathId directory : directories) {
    moment_ = directory;
    if (fits(*task, call)) {
      moment_.reset();
      return {};
    }
    if (found.empty()) found = contradictions_here(*task, call);
  }
  moment_.reset();
  // It was opened somewhere else.
  if (found.empty()) found.push_back({builder_.path(call.result_path), true});
  return found;
}

std::vector<CallTranslation::Need> CallTranslation::contradictions_here(Task& task,
                                                                        const SystemCall& call) {
  std::vector<Need> found;
  const bool done = call.result >= 0;
  const auto need = [&](const Name& name, bool follow, bool exists, bool of_parent = false) {
    PathId path = 0;
    if (!resolve(task, call, name, follow, path)) return;
    if (of_parent) path = builder_.tables().paths.node(path).parent;
    if (model_.presence(path) ==
        (exists ? TreeModel::Presence::absent : TreeModel::Presence::present)) {
      found.push_back({path, exists});
    }
  };
  const Name first = first_name(call), second = second_name(call);
  const bool follow = follows(call);
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

bool CallTranslation::could_explain(const SystemCall& other, const SystemCall& call,
                                    const Need& need) {
  const Effect effect = effect_of(other);
  Task* task = tasks_.find(other.thread);
  if (effect == Effect::none || !task || other.path.empty() || other.thread == call.thread) {
    return false;
  }
  const auto concerns = [&](const Name& name) {
    PathId path = 0;
    return resolve(*task, other, name, false, path) && paths_.is_below(need.path, path);
  };
  if (!need.exists) return effect != Effect::makes && concerns(first_name(other));
  if (effect == Effect::moves || other.call == Call::link) {
    return other.path2.empty() || concerns(second_name(other));
  }
  return effect == Effect::makes && concerns(first_name(other));
}

bool CallTranslation::could_empty(const SystemCall& other, const SystemCall& call) {
  const Effect effect = effect_of(other);
  if (call.call != Call::rmdir || call.result < 0 || other.path.empty()) return false;
  if (effect != Effect::removes && effect != Effect::moves) return false;
  Task* remover = tasks_.find(call.thread);
  Task* task = tasks_.find(other.thread);
  PathId directory = 0, path = 0;
  return remover && task && remover != task &&
         resolve(*remover, call, first_name(call), false, directory) &&
         resolve(*task, other, first_name(other), false, path) &&
         builder_.tables().paths.node(path).parent == directory &&
         model_.presence(path) == TreeModel::Presence::present;
}

}  // namespace filereel
