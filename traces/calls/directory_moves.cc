#include "traces/calls/directory_moves.h"

#include <algorithm>
#include <unordered_set>

#include "filesets/system/search.h"

namespace filereel {
namespace {

constexpr std::size_t kMaxPastDirectories = 32;

}  // namespace

bool is_working_place(CallParts& parts, PathId path) {
  return std::ranges::any_of(parts.tasks.all(), [&](const Task* task) {
    return parts.paths.is_below(task->fs_state->directory, path);
  });
}

void follow_rename(CallParts& parts, PathId from, PathId to, bool exchange) {
  parts.paths.renamed(from, to, exchange);
  std::unordered_set<const void*> done;  // tasks share what they refer to
  const auto follow = [&](PathId& path) {
    if (!done.insert(&path).second) return;
    if (parts.paths.is_below(path, from)) {
      path = parts.paths.moved(path, from, to);
    } else if (exchange && parts.paths.is_below(path, to)) {
      path = parts.paths.moved(path, to, from);
    }
  };
  for (Task* task : parts.tasks.all()) {
    follow(task->fs_state->directory);
    for (FsState::PastDirectory& stay : task->fs_state->past_directories) follow(stay.directory);
    if (done.insert(task->files.get()).second) {
      task->files->each([&](Description& file) { follow(file.path); });
    }
  }
  parts.files.numbers().each([&](Description& file) { follow(file.path); });
}

void follow_removal(CallParts& parts, PathId path, FileId file) {
  std::unordered_set<const void*> done;  // tasks share what they refer to
  const auto leave = [&](PathId& at) {
    if (!done.insert(&at).second || !parts.paths.is_below(at, path)) return;
    at = parts.paths.moved(at, path, parts.paths.removed(path));
  };
  // An open file with that path may be an earlier one, which has been unlinked.
  const auto leave_open = [&](Description& open) {
    const bool is_it = open.slot == kNoFile
                           ? open.directory
                           : file != kNoFileId && parts.model.file_of_slot(open.slot) == file;
    if (is_it || parts.paths.is_in_removed(open.path)) leave(open.path);
  };
  for (Task* task : parts.tasks.all()) {
    leave(task->fs_state->directory);
    for (FsState::PastDirectory& stay : task->fs_state->past_directories) leave(stay.directory);
    if (done.insert(task->files.get()).second) task->files->each(leave_open);
  }
  parts.files.numbers().each(leave_open);
}

void move_to(CallParts& parts, const CallContext& context, PathId directory) {
  FsState& now = *context.task.fs_state;
  if (context.task.fs_state.use_count() > 1) {
    auto* const known =
        find_or_null(now.past_directories, now.directory, &FsState::PastDirectory::directory);
    if (known) {
      known->until = parts.builder.operations();
    } else {
      if (now.past_directories.size() == kMaxPastDirectories) {
        now.past_directories.erase(
            std::ranges::min_element(now.past_directories, {}, &FsState::PastDirectory::until));
      }
      now.past_directories.push_back({now.directory, parts.builder.operations()});
    }
  }
  now.directory = directory;
  now.mount = context.mount;
  now.directory_ns = context.call.exit_ns;
  now.changed_at = parts.builder.operations();
}

}  // namespace filereel
