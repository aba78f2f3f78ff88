// Working directories that threads share: one moves it while another looks up a relative name, and
// only the result says where that name began.
#include <algorithm>

#include <fcntl.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

constexpr std::size_t kMaxStays = 32;

bool begins_there(int dir, std::string_view path) {
  return dir == SystemCall::kCwd && !path.empty() && !path.starts_with('/');
}

}  // namespace

std::vector<PathId> CallTranslation::possible_directories(Task& task, const SystemCall& call,
                                                          std::uint64_t position) {
  std::vector<PathId> found;
  Surroundings& now = *task.surroundings;
  if (task.surroundings.use_count() == 1 && now.stays.empty()) return found;
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
    const bool later =
        position == kUnknown ? call.enter_ns >= now.directory_ns : position > now.changed_at;
    if (later) now.directory = found.front();
  }
  add(now.directory);
  // Times are not exact enough to say what overlapped.
  for (const Surroundings::Stay& stay : now.stays) {
    if (position <= stay.until) add(stay.directory);
  }
  return found;
}

bool CallTranslation::fits(Task& task, const SystemCall& call) {
  if (call.call == Call::open && call.result >= 0 && names_file(call.result_path) &&
      (call.flags & O_TMPFILE) != O_TMPFILE) {
    PathId path = 0;
    bool deleted = false;
    const PathId real = paths_.real(call.result_path, deleted);
    if (!deleted && (!resolve(task, call, first_name(call), follows(call), path) || path != real)) {
      return false;
    }
  }
  return contradictions_here(task, call).empty();
}

std::optional<PathId> CallTranslation::directory_of_the_moment(Task& task, const SystemCall& call,
                                                               std::uint64_t position) {
  const std::vector<PathId> directories = possible_directories(task, call, position);
  if (directories.empty()) return std::nullopt;
  for (const PathId directory : directories) {
    moment_ = directory;
    if (fits(task, call)) return directory;
  }
  // The change was missed, or the wait for it was too long: the path of an opened file tells it.
  const std::string& opened = call.result_path;
  if (begins_there(call.dir, call.path) && opened.size() > call.path.size() + 1 &&
      names_file(opened) && opened.ends_with("/" + call.path)) {
    bool deleted = false;
    const PathId directory =
        paths_.real(opened.substr(0, opened.size() - call.path.size() - 1), deleted);
    if (!deleted) return directory;
  }
  return directories.front();
}

void CallTranslation::change_directory(Task& task, const SystemCall& call, PathId directory) {
  Surroundings& now = *task.surroundings;
  if (task.surroundings.use_count() > 1) {
    const auto known = std::ranges::find(now.stays, now.directory, &Surroundings::Stay::directory);
    if (known != now.stays.end()) {
      known->until = builder_.operations();
    } else {
      if (now.stays.size() == kMaxStays) {
        now.stays.erase(std::ranges::min_element(now.stays, {}, &Surroundings::Stay::until));
      }
      now.stays.push_back({now.directory, builder_.operations()});
    }
  }
  now.directory = directory;
  now.directory_ns = call.exit_ns;
  now.changed_at = builder_.operations();
}

bool CallTranslation::could_move(const SystemCall& other, const SystemCall& call) {
  if (other.call != Call::chdir && other.call != Call::fchdir) return false;
  if (other.thread == call.thread) return false;
  const Task* mover = tasks_.find(other.thread);
  const Task* task = tasks_.find(call.thread);
  // What the thread shares is not known before the fork that made it has returned.
  const bool shares =
      mover ? task && mover->surroundings == task->surroundings : task && is_new(other.thread);
  return shares && (begins_there(call.dir, call.path) || begins_there(call.dir2, call.path2));
}

}  // namespace filereel
