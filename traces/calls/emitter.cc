// The problem. A replay begins with the initial tree and can do only what the trace says. So an
// operation that succeeded must be possible after the operations before it. But the tracer sees one
// program: another one may have created the file, or a call did that the trace lacks. Then the
// model knows that the name is absent, since an earlier operation removed it or found it missing,
// and yet a call has used it.
//
// Marking that operation as loose is not enough: all later ones on the name would fail in the
// replay, too. Adding the name to the initial tree is wrong: earlier operations found it missing.
// So explain() makes the name immediately before, on the same thread, and counts it as
// approximated. Only absent names are made. Unknown ones need nothing: TreeModel puts them into the
// initial tree. Loose operations, whose result is not compared, are not explained.
//
// DirectoryFilter limits a trace to one directory. It cannot decide by path alone: a file may have
// been opened outside and moved inside, a descriptor is used long after its name, and a close
// belongs to the trace exactly if the open does. So follow() sees every operation in order, also
// those that are left out, and keeps the state of each open file and mapping. Links that are left
// out are passed to PathResolution, because names inside may be reached through them.
//
// The order in add() matters: completed requests are reaped before the operation, and takes() is
// asked before follow() changes the state that the answer depends on (a close is taken by the state
// before it).
#include "traces/calls/emitter.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include "filesets/system/search.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

bool makes_name(OperationKind kind) {
  using enum OperationKind;
  return kind == make_directory || kind == make_node || kind == symlink || kind == link;
}

}  // namespace

bool is_environment_error(int error) {
  // EFBIG is mostly a limit of the process (RLIMIT_FSIZE), which a replay does not have.
  constexpr int kErrors[] = {EPERM, EACCES, EROFS,  EXDEV,  EBUSY,  ETXTBSY, ENOSPC,    EDQUOT,
                             EFBIG, EIO,    ENOMEM, EMFILE, ENFILE, EMLINK,  EOPNOTSUPP};
  return contains(kErrors, error);
}

bool DirectoryFilter::takes(const Operation& operation) const {
  using enum OperationKind;
  if (!directory_) return true;
  switch (operation.kind) {
    case fork:
    case join:
    case exit:
    case reap:
    case wait:
    case wake:
      return true;
    case open:
      return is_inside(operation.path) || (operation.file != kNoFile && has_open(operation.file));
    case close:
      return has_open(operation.file);
    case copy_range:
      return is_inside_file(operation.file) || is_inside_file(operation.source);
    case rename:  // also of a directory above it
      return is_inside(operation.path) || is_inside(operation.old_path) ||
             paths_.is_below(*directory_, operation.old_path);
    case link:
      return is_inside(operation.path) ||
             (operation.file != kNoFile ? is_inside_file(operation.file)
                                        : is_inside(operation.old_path));
    case sync_volume:
      return operation.file == kNoFile || is_inside_file(operation.file);
    case unmap:
    case sync_map:
    case fault:
      return state(mappings_, operation.source).inside;
    default:
      return operation.file != kNoFile ? is_inside_file(operation.file) : is_inside(operation.path);
  }
}

void DirectoryFilter::follow(const Operation& operation) {
  using enum OperationKind;
  if (!directory_) return;
  switch (operation.kind) {
    case open:
      if (operation.file == kNoFile) return;
      at(files_, operation.file) = {takes(operation), is_inside(operation.path)};
      return;
    case close:
      at(files_, operation.file) = {};
      return;
    case map:
      at(mappings_, operation.source).inside = is_inside_file(operation.file);
      return;
    default:
      return;
  }
}

void Emitter::emit(const CallContext& context, Operation operation, std::string_view data) {
  const SystemCall& call = context.call;
  if (call.result < 0) {
    operation.expected = call.result;
    const auto error = static_cast<int>(-call.result);
    if (is_environment_error(error) || error == EAGAIN) operation.loose = true;
  }
  if (context.race || context.unknown_link) operation.loose = true;
  if (!operation.loose && kept_.takes(operation)) explain(context, operation);
  add(context.task, call.enter_ns, call.exit_ns, operation, data);
}

void Emitter::add(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                  const Operation& operation, std::string_view data) {
  reap(task);
  const bool takes = kept_.takes(operation);
  kept_.follow(operation);
  task.faulted = takes && operation.kind == OperationKind::fault;
  if (!takes) {
    // What is inside may be named through it.
    const bool link =
        operation.kind == OperationKind::symlink || operation.kind == OperationKind::read_link;
    if (link && operation.expected >= 0) paths_.expect_link(operation.path, operation.text);
    return;
  }
  RecordedOperation recorded;
  recorded.operation = operation;
  recorded.operation.thread = task.number;
  // Time never goes back within a thread, even if the tracer says so.
  recorded.start_ns = std::max(begin_ns, task.last_start_ns);
  recorded.duration_ns = end_ns > recorded.start_ns ? end_ns - recorded.start_ns : 0;
  task.last_start_ns = recorded.start_ns;
  recorded.data = data;
  task.has_operations = true;
  builder_.add(recorded);
}

void Emitter::reap(Task& task) {
  if (!std::exchange(task.reap_due, false)) return;
  const Operation reap{.kind = OperationKind::reap, .length = task.requests};
  add(task, task.reap_begin_ns, std::exchange(task.reap_end_ns, 0), reap);
}

void Emitter::explain(const CallContext& context, const Operation& operation) {
  using enum OperationKind;
  const Field fields = operation_info(operation.kind).fields;
  const bool by_path =
      has(fields, Field::path) || (has(fields, Field::target) && operation.file == kNoFile);
  if (!by_path) return;
  const PathId path = operation.path, parent = builder_.tables().paths.node(path).parent;
  const bool creates = operation.kind == open && (operation.flags & O_CREAT) != 0;
  if (context.call.result < 0) {
    if (context.call.result == -EEXIST && (creates || makes_name(operation.kind))) {
      create_unseen(context, path, operation.kind == make_directory ? S_IFDIR : S_IFREG);
    }
    return;
  }
  if (operation.kind == rename || operation.kind == link) {
    const bool by_file = operation.kind == link && operation.file != kNoFile;
    if (!by_file) create_unseen(context, operation.old_path, S_IFREG);
    if ((operation.flags & RENAME_EXCHANGE) != 0) return create_unseen(context, path, S_IFREG);
    return create_unseen(context, parent, S_IFDIR);
  }
  if (creates || makes_name(operation.kind)) return create_unseen(context, parent, S_IFDIR);
  const bool directory =
      operation.kind == remove_directory || operation.kind == change_directory ||
      (operation.kind == open && (operation.flags & open_flags::kDirectory) != 0);
  const std::uint32_t mode = operation.kind == stat && operation.mode != 0 ? operation.mode
                             : operation.kind == read_link                 ? S_IFLNK
                             : directory                                   ? S_IFDIR
                                                                           : S_IFREG;
  create_unseen(context, path, mode, operation.text,
                operation.kind == stat && S_ISREG(mode) ? operation.length : 0);
}

void Emitter::create_unseen(const CallContext& context, PathId path, std::uint32_t mode,
                            TextId text, std::uint64_t size) {
  using Presence = TreeModel::Presence;
  const TreeModel& model = builder_.model();
  if (model.presence(path) != Presence::absent) return;
  std::vector<PathId> missing;  // from `path` upwards
  while (model.presence(path) == Presence::absent) {
    missing.push_back(path);
    path = builder_.tables().paths.node(path).parent;
  }
  // A file cannot contain names: the cause is something else.
  if (model.presence(path) == Presence::present && !model.is_directory(path)) return;
  builder_.approximated("files that appear without a call that creates them");
  const std::uint64_t at_ns = context.call.enter_ns;
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
      make_file(context.task, at_ns, at_ns, missing[i], permissions);
      if (size == 0) continue;
      operation.kind = OperationKind::truncate;
      operation.offset = size;
    }
    add(context.task, at_ns, at_ns, operation);
  }
}

void Emitter::make_file(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, PathId path,
                        std::uint32_t mode) {
  const FileSlot slot = builder_.take_slot();
  add(task, begin_ns, end_ns,
      {.kind = OperationKind::open,
       .flags = O_CREAT | O_EXCL | O_WRONLY,
       .mode = mode,
       .file = slot,
       .path = path});
  add(task, end_ns, end_ns, {.kind = OperationKind::close, .file = slot});
  builder_.free_slot(slot);
}

}  // namespace filereel
