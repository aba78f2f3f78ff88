// Conclusions from operations that succeeded.
#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/model/tree_model_state.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

// More files are never open at once; a larger number means corruption.
constexpr FileSlot kMaxSlots = 1 << 22;

bool writes(std::uint32_t open_flags) {
  return (open_flags & O_ACCMODE) != O_RDONLY && (open_flags & O_PATH) == 0;
}

}  // namespace

FileKind kind_of_mode(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case 0:
      return FileKind::unknown;
    case S_IFDIR:
      return FileKind::directory;
    case S_IFLNK:
      return FileKind::symlink;
    default:
      return FileKind::file;  // the closest kind for a device or a pipe
  }
}

NodeId TreeModel::State::opened(const Operation& operation) {
  std::optional<OpenedFile> seen;
  if (expected_open && expected_open->first == operation.file) {
    seen = std::exchange(expected_open, std::nullopt)->second;
  }
  if (operation.file >= kMaxSlots) return kNoNode;
  const std::uint32_t flags = operation.flags;
  NodeId id = kNoNode;
  if (is_nameless(flags)) {
    tree.require(operation.path, FileKind::directory);
    id = tree.make_nameless();
  } else if ((flags & O_CREAT) != 0) {
    id = (flags & O_EXCL) != 0 ? tree.make(operation.path, FileKind::file, operation.position)
                               : tree.make_or_open(operation.path, operation.position);
  } else {
    id = tree.require(operation.path);
    if ((flags & open_flags::kDirectory) != 0) tree.learn_kind(id, FileKind::directory);
  }
  if (id == kNoNode) return id;
  FileNode& node = tree.node(id);
  if (writes(flags)) tree.learn_kind(id, FileKind::file);
  if (seen && !is_nameless(flags)) tree.learn_opened(id, *seen);
  if ((flags & O_CREAT) != 0 && node.data.origin() != Origin::before &&
      node.mode == FileNode::kNoMode) {
    node.mode = static_cast<std::uint16_t>(operation.mode & 0777);
  }
  if ((flags & O_TRUNC) != 0) {
    tree.learn_kind(id, FileKind::file);
    node.change_data([](FileData& data) { data.truncate(0); });
    node.size_assumed = false;
  }
  closed(operation.file);
  if (slots.size() <= operation.file) slots.resize(operation.file + 1);
  slots[operation.file] = {id, flags};
  tree.use(id);
  return id;
}

void TreeModel::State::closed(FileSlot slot) {
  if (OpenFile* file = open_file(slot)) tree.release(std::exchange(file->node, kNoNode));
}

void TreeModel::State::was_read(NodeId id, Operation& operation) {
  FileNode& node = tree.node(id);
  tree.learn_kind(id, FileKind::file);
  const auto got = static_cast<std::uint64_t>(operation.expected);
  node.change_data([&](FileData& data) { data.was_read(operation.offset, operation.length, got); });
  tree.settle(id);
  operation.hole = node.data.hole(operation.offset, got);
}

void TreeModel::State::written(NodeId id, const Operation& operation) {
  FileNode& node = tree.node(id);
  tree.learn_kind(id, FileKind::file);
  const OpenFile* file = open_file(operation.file);
  const auto length = static_cast<std::uint64_t>(operation.expected);
  if (length == 0) return;
  // An append reveals the end of the file, which is a guess if nothing else shows the size.
  if ((file->flags & O_APPEND) != 0 && !node.known().exact()) node.size_assumed = true;
  node.change_data([&](FileData& data) {
    if ((file->flags & O_APPEND) != 0 && !data.exact()) data.has_size(operation.offset);
  });
  if ((file->flags & O_APPEND) != 0) tree.settle(id);
  node.change_data([&](FileData& data) {
    data.write(operation.offset, length, operation.data == DataSource::generated);
  });
}

void TreeModel::State::copied(NodeId id, const Operation& operation) {
  tree.learn_kind(id, FileKind::file);
  const NodeId from = of_slot(operation.source);
  auto length = static_cast<std::uint64_t>(operation.expected);
  if (from != kNoNode) {
    FileNode& source = tree.node(from);
    tree.learn_kind(from, FileKind::file);
    if (operation.method == CopyMethod::reflink && operation.length == 0) {
      length = source.data.size() - std::min(source.data.size(), operation.second);
    }
    source.change_data([&](FileData& data) { data.was_copied(operation.second, length); });
    tree.settle(from);
  }
  tree.node(id).change_data([&](FileData& data) { data.write(operation.offset, length, false); });
}

void TreeModel::State::seen(NodeId id, const Operation& operation) {
  if (operation.mode == 0) return;
  tree.learn_kind(id, kind_of_mode(operation.mode));
  FileNode& node = tree.node(id);
  if (S_ISREG(operation.mode)) {
    node.data.has_size(operation.length);
    if (node.seen && !node.seen->exact()) node.seen->has_size(operation.length);
    node.size_assumed = false;
    tree.settle(id);
  }
  const auto mode = static_cast<std::uint16_t>(operation.mode & 0777);
  // Sources that saw only the size omit permissions. A file without any is of no use to a replay.
  if (mode == 0) return;
  if (node.mode == FileNode::kNoMode) node.initial_mode = mode;
  node.mode = mode;
}

void TreeModel::State::mapped(NodeId id, const Operation& operation) {
  if (operation.source >= kMaxSlots) return;
  tree.learn_kind(id, FileKind::file);
  tree.node(id).change_data(
      [&](FileData& data) { data.was_mapped(operation.offset, operation.length); });
  tree.settle(id);
  unmapped(operation.source);
  if (mappings.size() <= operation.source) mappings.resize(operation.source + 1);
  mappings[operation.source] = {id, operation.flags, operation.offset, operation.length};
  tree.use(id);
}

void TreeModel::State::unmapped(FileSlot number) {
  if (Mapping* old = mapping(number)) tree.release(std::exchange(old->node, kNoNode));
}

void TreeModel::State::faulted(const Mapping& mapping, const Operation& operation) {
  if (operation.offset >= mapping.length) return;
  const std::uint64_t offset = mapping.offset + operation.offset;
  const std::uint64_t length = std::min(operation.length, mapping.length - operation.offset);
  tree.node(mapping.node).change_data([&](FileData& data) {
    data.was_mapped(offset, length);
    if ((operation.flags & 1) != 0 && mapping.shared()) data.store(offset, length);
  });
}

// A program that syncs a mapping has stored into it.
void TreeModel::State::synced(const Mapping& mapping, const Operation& operation) {
  if (!mapping.shared() || !mapping.writable() || operation.offset >= mapping.length) return;
  const std::uint64_t length = std::min(operation.length, mapping.length - operation.offset);
  tree.node(mapping.node).change_data([&](FileData& data) {
    data.store(mapping.offset + operation.offset, length);
  });
}

// Advice to read the range soon. Length 0: up to the end.
void TreeModel::State::prepared(NodeId id, const Operation& operation) {
  if (operation.kind == OperationKind::advise && operation.flags != POSIX_FADV_WILLNEED) return;
  const std::uint64_t length = operation.length == 0 ? UINT64_MAX : operation.length;
  tree.node(id).change_data([&](FileData& data) { data.use(operation.offset, length); });
}

void TreeModel::State::learn_text(NodeId id, TextId text) {
  if (id == kNoNode) return;
  tree.learn_kind(id, FileKind::symlink);
  FileNode& node = tree.node(id);
  if (node.kind == FileKind::symlink && node.text == 0) node.text = text;
}

void TreeModel::State::succeeded(Operation& operation) {
  using enum OperationKind;
  const auto set_entry = [&](NodeId id) {
    operation.entry = id == kNoNode ? kNoFileId : tree.file_id(id);
    return id != kNoNode;
  };
  switch (operation.kind) {
    case read:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) was_read(id, operation);
      return;
    case write:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) written(id, operation);
      return;
    case open:
      set_entry(opened(operation));
      return;
    case close:
      set_entry(of_slot(operation.file));
      closed(operation.file);
      return;
    case truncate:
      if (const NodeId id = target(operation); set_entry(id)) {
        tree.learn_kind(id, FileKind::file);
        tree.node(id).change_data([&](FileData& data) { data.truncate(operation.offset); });
        tree.node(id).size_assumed = false;
      }
      return;
    case copy_range:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) copied(id, operation);
      return;
    case allocate:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) {
        tree.learn_kind(id, FileKind::file);
        tree.node(id).change_data([&](FileData& data) {
          data.allocate(operation.flags, operation.offset, operation.length);
        });
      }
      return;
    case stat:
      if (const NodeId id = target(operation); set_entry(id)) seen(id, operation);
      return;
    case change_mode:
      if (const NodeId id = target(operation); set_entry(id)) {
        FileNode& node = tree.node(id);
        node.mode = static_cast<std::uint16_t>(operation.mode & 0777);
      }
      return;
    case access:
    case execute:
      if (const NodeId id = tree.require(operation.path); set_entry(id)) {
        FileNode& node = tree.node(id);
        if (operation.kind == execute) {
          tree.learn_kind(id, FileKind::file);
          node.change_data([](FileData& data) { data.use_all(); });
        }
        if (operation.kind == execute || (operation.mode & X_OK) != 0) node.runs = true;
      }
      return;
    case read_ahead:
    case advise:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) prepared(id, operation);
      return;
    case list:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) {
        tree.learn_kind(id, FileKind::directory);
      }
      return;
    case change_directory:
      set_entry(tree.require(operation.path, FileKind::directory));
      return;
    case read_link:
      if (const NodeId id = tree.require(operation.path); set_entry(id)) {
        learn_text(id, operation.text);
      }
      return;
    case make_directory:
      if (const NodeId id = tree.make(operation.path, FileKind::directory, operation.position);
          id != kNoNode) {
        tree.node(id).mode = static_cast<std::uint16_t>(operation.mode & 0777);
      }
      return;
    case make_node:
      tree.make(operation.path, FileKind::special, operation.position);
      return;
    case symlink:
      if (const NodeId id = tree.make(operation.path, FileKind::symlink, operation.position);
          id != kNoNode) {
        tree.node(id).text = operation.text;
      }
      return;
    case remove_directory:
    case unlink:
      set_entry(tree.require(operation.path));
      tree.remove(operation.path,
                  operation.kind == unlink ? FileKind::unknown : FileKind::directory,
                  operation.position);
      return;
    case link: {
      const NodeId id =
          operation.file != kNoFile ? of_slot(operation.file) : tree.require(operation.old_path);
      if (set_entry(id)) tree.link(id, operation.path, operation.position);
      return;
    }
    case rename:
      set_entry(tree.require(operation.old_path));
      if ((operation.flags & RENAME_EXCHANGE) != 0) {
        tree.exchange(operation.old_path, operation.path, operation.position);
      } else {
        tree.rename(operation.old_path, operation.path, operation.position);
      }
      return;
    case map:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) mapped(id, operation);
      return;
    case unmap:
      name_entry(operation);
      unmapped(operation.source);
      return;
    case fault:
      name_entry(operation);
      if (const Mapping* known = mapping(operation.source)) faulted(*known, operation);
      return;
    case sync_map:
      name_entry(operation);
      if (const Mapping* known = mapping(operation.source)) synced(*known, operation);
      return;
    case set_flags:
      if (OpenFile* file = open_file(operation.file)) {
        constexpr std::uint32_t kSettable = O_APPEND | open_flags::kDirect | O_NOATIME | O_NONBLOCK;
        file->flags = (file->flags & ~kSettable) | (operation.flags & kSettable);
      }
      name_entry(operation);
      return;
    default: {
      const Field fields = operation_info(operation.kind).fields;
      if (has(fields, Field::target)) {
        set_entry(target(operation));
      } else {
        name_entry(operation);
      }
    }
  }
}

}  // namespace filereel
