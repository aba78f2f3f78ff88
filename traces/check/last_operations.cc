#include "traces/check/last_operations.h"

#include <cstddef>

#include <fcntl.h>

namespace filereel {
namespace {

bool changes_names(const Operation& operation) {
  using enum OperationKind;
  switch (operation.kind) {
    case make_directory:
    case remove_directory:
    case make_node:
    case symlink:
    case link:
    case unlink:
    case rename:
      return true;
    case open:
      return (operation.flags & O_CREAT) != 0;
    default:
      return false;
  }
}

// Says nothing about the state of a file.
bool only_releases(OperationKind kind) {
  return kind == OperationKind::close || kind == OperationKind::unmap;
}

void put(std::vector<LastOperations::Last>& list, std::size_t at,
         const LastOperations::Last& last) {
  if (at >= list.size()) list.resize(at + 1);
  list[at] = last;
}

}  // namespace

void LastOperations::add(const RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  const Last last{.position = operation.position + 1,
                  .end_ns = recorded.start_ns + recorded.duration_ns,
                  .kind = operation.kind};
  if (operation.entry != kNoFileId && !only_releases(operation.kind)) {
    put(files_, operation.entry, last);
  }
  if (!changes_names(operation) || operation.expected < 0) return;
  put(names_, operation.path, last);
  if (operation.kind == OperationKind::rename) put(names_, operation.old_path, last);
}

LastOperations::Last LastOperations::of(FileId file, PathId name) const {
  Last last;
  if (file < files_.size()) last = files_[file];
  if (name < names_.size() && names_[name].position > last.position) last = names_[name];
  return last;
}

}  // namespace filereel
