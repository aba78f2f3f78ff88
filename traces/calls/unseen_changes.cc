// What calls show of changes that the trace does not: another program made a name, or a call did
// that the tracer left out, such as bind. Without them a replay could not have the same results.
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

bool makes_name(OperationKind kind) {
  using enum OperationKind;
  return kind == make_directory || kind == make_node || kind == symlink || kind == link;
}

}  // namespace

void CallTranslation::explain(Task& task, const SystemCall& call, const Operation& operation) {
  using enum OperationKind;
  const Field fields = operation_info(operation.kind).fields;
  const bool by_path =
      has(fields, Field::path) || (has(fields, Field::target) && operation.file == kNoFile);
  if (!by_path) return;
  const PathId path = operation.path, parent = builder_.tables().paths.node(path).parent;
  const bool creates = operation.kind == open && (operation.flags & O_CREAT) != 0;
  if (call.result < 0) {
    if (call.result == -EEXIST && (creates || makes_name(operation.kind))) {
      appear(task, call, path, operation.kind == make_directory ? S_IFDIR : S_IFREG);
    }
    return;
  }
  if (operation.kind == rename || operation.kind == link) {
    const bool by_file = operation.kind == link && operation.file != kNoFile;
    if (!by_file) appear(task, call, operation.old_path, S_IFREG);
    if ((operation.flags & RENAME_EXCHANGE) != 0) return appear(task, call, path, S_IFREG);
    return appear(task, call, parent, S_IFDIR);
  }
  if (creates || makes_name(operation.kind)) return appear(task, call, parent, S_IFDIR);
  const bool directory = operation.kind == remove_directory || operation.kind == change_directory ||
                         (operation.kind == open && (operation.flags & O_DIRECTORY) != 0);
  const std::uint32_t mode = operation.kind == stat && operation.mode != 0 ? operation.mode
                             : operation.kind == read_link                 ? S_IFLNK
                             : directory                                   ? S_IFDIR
                                                                           : S_IFREG;
  appear(task, call, path, mode, operation.text,
         operation.kind == stat && S_ISREG(mode) ? operation.length : 0);
}

void CallTranslation::appear(Task& task, const SystemCall& call, PathId path, std::uint32_t mode,
                             TextId text, std::uint64_t size) {
  if (model_.presence(path) != TreeModel::Presence::absent) return;
  const PathTable& paths = builder_.tables().paths;
  std::vector<PathId> missing;  // from `path` upwards
  while (model_.presence(path) == TreeModel::Presence::absent) {
    missing.push_back(path);
    path = paths.node(path).parent;
  }
  // A file cannot hold names: something else is wrong.
  if (model_.presence(path) == TreeModel::Presence::present && !model_.is_directory(path)) return;
  builder_.approximated("files that appear without a call that makes them");
  for (std::size_t i = missing.size(); i-- > 0;) {
    Operation operation;
    operation.path = missing[i];
    const std::uint32_t permissions = (mode & 0777) != 0 ? mode & 0777 : 0755;
    if (i > 0 || S_ISDIR(mode)) {
      operation.kind = OperationKind::make_directory;
      operation.mode = i > 0 ? 0755 : permissions;
    } else if (S_ISLNK(mode)) {
      operation.kind = OperationKind::symlink;
      operation.text = text != 0 ? text : builder_.tables().texts.add("filereel-unknown");
    } else {
      make_file(task, call.enter_ns, call.enter_ns, missing[i], permissions);
      if (size == 0) continue;
      operation.kind = OperationKind::truncate;
      operation.offset = size;
    }
    emit_at(task, call.enter_ns, call.enter_ns, operation);
  }
}

void CallTranslation::make_file(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                                PathId path, std::uint32_t mode) {
  Operation operation;
  operation.kind = OperationKind::open;
  operation.path = path;
  operation.flags = O_CREAT | O_EXCL | O_WRONLY;
  operation.mode = mode;
  operation.file = builder_.take_slot();
  emit_at(task, begin_ns, end_ns, operation);
  Operation close;
  close.kind = OperationKind::close;
  close.file = operation.file;
  emit_at(task, end_ns, end_ns, close);
  builder_.free_slot(operation.file);
}

}  // namespace filereel
