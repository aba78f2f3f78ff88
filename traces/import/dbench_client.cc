#include "traces/import/dbench_client.h"

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "traces/open_flags.h"

namespace filereel {
namespace {

// Values of NTCreateX in the SMB protocol.
constexpr std::uint64_t kDirectoryFile = 1;                             // options
constexpr std::uint64_t kCreate = 2, kOverwrite = 4, kOverwriteIf = 5;  // dispositions

constexpr std::uint32_t kOpenDirectory = O_RDONLY | O_NONBLOCK | O_CLOEXEC | open_flags::kDirectory;
constexpr std::uint64_t kListBuffer = 32768;  // buffer of the C library's readdir

// Maximum depth of directories in a name of 4095 bytes; renaming can exceed it.
constexpr int kDeepest = 2048;

// dbench sets the observed time minus some seconds; a load file does not have that time.
constexpr std::uint64_t kAccessTime = 1'000'000'000'000'000'000, kChangeTime = kAccessTime;

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

}  // namespace

DbenchClient::DbenchClient(TraceBuilder& builder)
    : builder_(builder), tree_(builder.tables().paths) {}

void DbenchClient::advance_to(std::uint64_t start_ns) {
  now_ns_ = std::max(now_ns_, start_ns);
}

void DbenchClient::create(std::string_view name, std::uint64_t options, std::uint64_t disposition,
                          std::int64_t handle, bool succeeded) {
  const PathId path = builder_.path(name);
  const bool directory = (options & kDirectoryFile) != 0;
  std::uint32_t flags = O_RDWR;
  if (disposition == kCreate) flags |= O_CREAT;
  if (disposition == kOverwrite || disposition == kOverwriteIf) flags |= O_CREAT | O_TRUNC;
  if (succeeded) assume(path, (flags & O_CREAT) == 0 && !directory);
  resolve(path);
  if (directory) {
    make_directory(path, 0700);
    flags = O_RDONLY | open_flags::kDirectory;
  }
  Handle opened;
  int error = open(path, flags, 0600, opened);
  if (error == EISDIR) error = open(path, O_RDONLY | open_flags::kDirectory, 0600, opened);
  compare(error, succeeded);
  if (error != 0) return;
  if (!succeeded) {
    close(opened);
    return;
  }
  stat(opened);
  open_.emplace(handle, opened);
}

void DbenchClient::close(std::int64_t handle) {
  const auto found = open_.find(handle);
  close(found->second);
  open_.erase(found);
}

void DbenchClient::read(std::int64_t handle, std::uint64_t offset, std::uint64_t length,
                        std::uint64_t returned) {
  const Handle& file = open_.at(handle);
  if (returned > 0) tree_.read_to(file.number, offset + std::min(length, returned));
  const SimulatedTree::Node& node = tree_.node(file.number);
  Operation operation{.kind = OperationKind::read};
  operation.file = file.file;
  operation.offset = offset;
  operation.length = length;
  operation.expected =
      node.directory
          ? -EISDIR
          : static_cast<std::int64_t>(std::min(length, node.size - std::min(node.size, offset)));
  add(operation);
}

void DbenchClient::write(std::int64_t handle, std::uint64_t offset, std::uint64_t length) {
  const Handle& file = open_.at(handle);
  const bool directory = tree_.node(file.number).directory;
  Operation operation{.kind = OperationKind::write};
  operation.file = file.file;
  operation.offset = offset;
  operation.length = length;
  operation.expected = directory ? -EBADF : static_cast<std::int64_t>(length);
  add(operation);
  if (!directory && length > 0) tree_.grow(file.number, offset + length);
}

void DbenchClient::flush(std::int64_t handle) {
  Operation operation{.kind = OperationKind::sync};
  operation.file = open_.at(handle).file;
  add(operation);
}

void DbenchClient::lock(std::int64_t handle, std::uint64_t offset, std::uint64_t length,
                        bool unlock) {
  const Handle& file = open_.at(handle);
  Operation operation{.kind = OperationKind::lock};
  operation.file = file.file;
  operation.flags = lock_flags::kRecord | lock_flags::kWait |
                    (unlock ? lock_flags::kUnlock : lock_flags::kExclusive);
  operation.offset = offset;
  operation.length = length;
  if (tree_.node(file.number).directory && !unlock) operation.expected = -EBADF;  // read only
  add(operation);
}

void DbenchClient::query_file(std::int64_t handle) {
  stat(open_.at(handle));
}

void DbenchClient::set_file(std::int64_t handle) {
  const Handle& file = open_.at(handle);
  stat(file);
  Operation operation{.kind = OperationKind::set_times};
  operation.path = file.path;
  operation.offset = kAccessTime;
  operation.second = kChangeTime;
  operation.expected = -tree_.find(file.path).error;
  add(operation);
}

void DbenchClient::query_path(std::string_view name) {
  resolve(builder_.path(name));
}

void DbenchClient::query_volume() {
  Operation operation{.kind = OperationKind::stat_volume};
  operation.path = PathTable::root(Role::near);
  add(operation);
}

void DbenchClient::find_first(std::string_view pattern, std::int64_t most) {
  const PathId path = builder_.path(pattern);
  resolve(path);
  if (pattern.find_first_of("<>*?\"") == pattern.npos) return;
  Handle directory;
  if (!open_directory(builder_.tables().paths.node(path).parent, directory)) return;
  const SimulatedTree::Node& node = tree_.node(directory.number);
  const std::uint64_t entries = node.children.size() + 2;  // "." and ".."
  const auto wanted = static_cast<std::uint64_t>(most);    // negative: all of them
  if (wanted > entries) {
    list(directory, divide_up(node.list_bytes, kListBuffer) + 1);
  } else {
    list(directory, divide_up(node.list_bytes / entries * wanted, kListBuffer));
  }
  close(directory);
}

void DbenchClient::make_directory(std::string_view name) {
  const PathId path = builder_.path(name);
  resolve(path);
  make_directory(path, 0777);
}

void DbenchClient::remove_directory(std::string_view name, bool succeeded) {
  Operation operation{.kind = OperationKind::remove_directory};
  operation.path = builder_.path(name);
  resolve(operation.path);
  const int error = tree_.remove_directory(operation.path);
  operation.expected = -error;
  add(operation);
  compare(error, succeeded);
}

void DbenchClient::unlink(std::string_view name, bool succeeded) {
  Operation operation{.kind = OperationKind::unlink};
  operation.path = builder_.path(name);
  resolve(operation.path);
  const int error = tree_.remove_file(operation.path);
  operation.expected = -error;
  add(operation);
  compare(error, succeeded);
}

void DbenchClient::rename(std::string_view from, std::string_view to, bool succeeded) {
  Operation operation{.kind = OperationKind::rename};
  operation.old_path = builder_.path(from);
  operation.path = builder_.path(to);
  resolve(operation.old_path);
  resolve(operation.path);
  const int error = tree_.rename(operation.old_path, operation.path);
  operation.expected = -error;
  add(operation);
  compare(error, succeeded);
}

void DbenchClient::delete_tree(std::string_view name) {
  empty_directory(builder_.path(name), 0);
}

void DbenchClient::assume(PathId path, bool exists) {
  if (exists) {
    const PathTable::Node name = builder_.tables().paths.node(path);
    const SimulatedTree::Found directory = tree_.find(name.parent);
    const bool otherwise_written =
        directory.error == 0 && tree_.has_in_any_case(directory.number, name.name);
    exists = !otherwise_written;
  }
  std::vector<PathId> missing;
  for (PathId at = exists ? path : builder_.tables().paths.node(path).parent;
       tree_.find(at).error == ENOENT; at = builder_.tables().paths.node(at).parent) {
    if (builder_.model().presence(at) == TreeModel::Presence::absent) return;
    missing.push_back(at);
  }
  for (const PathId at : missing | std::views::reverse) tree_.assume(at, at != path);
}

void DbenchClient::add(const Operation& operation) {
  RecordedOperation made;
  made.operation = operation;
  made.start_ns = now_ns_;
  builder_.add(made);
}

void DbenchClient::stat(PathId path) {
  Operation operation{.kind = OperationKind::stat};
  operation.path = path;
  operation.expected = -tree_.find(path).error;
  add(operation);
}

void DbenchClient::stat(const Handle& handle) {
  Operation operation{.kind = OperationKind::stat};
  operation.file = handle.file;
  add(operation);
}

void DbenchClient::resolve(PathId path) {
  stat(path);
  if (tree_.find(path).error == 0) return;
  const PathTable::Node name = builder_.tables().paths.node(path);
  Handle directory;
  if (!open_directory(name.parent, directory)) return;
  const SimulatedTree::Node& node = tree_.node(directory.number);
  const bool otherwise_written = tree_.has_in_any_case(directory.number, name.name);
  const std::uint64_t calls = divide_up(node.list_bytes, kListBuffer);
  list(directory, otherwise_written ? divide_up(calls, 2) : calls + 1);
  close(directory);
}

int DbenchClient::open(PathId path, std::uint32_t flags, std::uint32_t mode, Handle& handle) {
  const SimulatedTree::Found found = tree_.open(path, flags);
  Operation operation{.kind = OperationKind::open};
  operation.path = path;
  operation.flags = flags;
  operation.mode = mode;
  operation.expected = -found.error;
  if (found.error == 0) {
    operation.file = builder_.take_slot();
    tree_.hold(found.number);
    handle = {.file = operation.file, .number = found.number, .path = path};
  }
  add(operation);
  return found.error;
}

void DbenchClient::close(const Handle& handle) {
  Operation operation{.kind = OperationKind::close};
  operation.file = handle.file;
  add(operation);
  builder_.free_slot(handle.file);
  tree_.release(handle.number);
}

bool DbenchClient::open_directory(PathId path, Handle& handle) {
  if (open(path, kOpenDirectory, 0, handle) != 0) return false;
  stat(handle);
  return true;
}

void DbenchClient::list(const Handle& directory, std::uint64_t calls, std::uint64_t from) {
  for (std::uint64_t call = from; call < calls; ++call) {
    Operation operation{.kind = OperationKind::list};
    operation.file = directory.file;
    operation.offset = call;
    operation.length = kListBuffer;
    add(operation);
  }
}

void DbenchClient::make_directory(PathId path, std::uint32_t mode) {
  Operation operation{.kind = OperationKind::make_directory};
  operation.path = path;
  operation.mode = mode;
  operation.expected = -tree_.make_directory(path);
  add(operation);
}

// Removes all files below it, but no directories, like dbench.
void DbenchClient::empty_directory(PathId path, int depth) {
  Handle directory;
  if (!open_directory(path, directory)) return;
  std::vector<std::string> names;
  const std::uint64_t calls = divide_up(tree_.node(directory.number).list_bytes, kListBuffer);
  for (const auto& [name, number] : tree_.node(directory.number).children) names.push_back(name);
  list(directory, calls);
  for (const std::string& name : names) {
    if (depth == kDeepest) break;
    const PathId child = builder_.tables().paths.add(path, name);
    stat(child);
    if (tree_.node(tree_.find(child).number).directory) {
      empty_directory(child, depth + 1);
    } else {
      Operation operation{.kind = OperationKind::unlink};
      operation.path = child;
      operation.expected = -tree_.remove_file(child);
      add(operation);
    }
  }
  list(directory, calls + 1, calls);
  close(directory);
}

void DbenchClient::compare(int error, bool succeeded) {
  if ((error == 0) != succeeded) builder_.approximated("results that differ from the load file");
}

}  // namespace filereel
