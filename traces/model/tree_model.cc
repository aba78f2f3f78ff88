#include "traces/model/tree_model.h"

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/model/file_tree.h"

namespace filereel {
namespace {

// More files than this are never open at once; a number above it is damage.
constexpr FileSlot kMaxSlots = 1 << 22;

struct OpenFile {
  NodeId node = kNoNode;
  std::uint32_t flags = 0;
};

struct Mapping {
  NodeId node = kNoNode;
  std::uint32_t flags = 0;  // as in the operation
  std::uint64_t offset = 0, length = 0;

  bool shared() const { return ((flags >> 8) & MAP_SHARED) != 0; }
  bool writable() const { return (flags & PROT_WRITE) != 0; }
};

bool writes(std::uint32_t open_flags) {
  return (open_flags & O_ACCMODE) != O_RDONLY && (open_flags & O_PATH) == 0;
}

bool is_nameless(std::uint32_t open_flags) {
  return (open_flags & O_TMPFILE) == O_TMPFILE;
}

FileKind kind_of_mode(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case 0:
      return FileKind::unknown;
    case S_IFDIR:
      return FileKind::directory;
    case S_IFLNK:
      return FileKind::symlink;
    default:
      return FileKind::file;  // the nearest thing to a device or a pipe
  }
}

}  // namespace

struct TreeModel::State {
  explicit State(TraceTables& tables_) : tree(tables_) {}

  OpenFile* open_file(FileSlot slot) {
    return slot < slots.size() && slots[slot].node != kNoNode ? &slots[slot] : nullptr;
  }
  NodeId of_slot(FileSlot slot) {
    const OpenFile* file = open_file(slot);
    return file != nullptr ? file->node : kNoNode;
  }
  Mapping* mapping(FileSlot number) {
    return number < mappings.size() && mappings[number].node != kNoNode ? &mappings[number]
                                                                        : nullptr;
  }

  void succeeded(Operation& operation);
  void failed(const Operation& operation);
  void name_entry(Operation& operation);

  NodeId opened(const Operation& operation);
  void closed(FileSlot slot);
  void was_read(NodeId id, Operation& operation);
  void written(NodeId id, const Operation& operation);
  void copied(NodeId id, const Operation& operation);
  void seen(NodeId id, const Operation& operation);
  void mapped(NodeId id, const Operation& operation);
  void unmapped(FileSlot number);
  void faulted(const Mapping& mapping, const Operation& operation);
  void learn_text(NodeId id, TextId text);
  // The file that an operation works on: the open one, else what must be at its path.
  NodeId target(const Operation& operation) {
    return operation.file != kNoFile ? of_slot(operation.file) : tree.require(operation.path);
  }
  void parent_missing(PathId path);
  void is_no_directory(const Operation& operation);
  void name_taken(const Operation& operation);

  FileTree tree;
  std::vector<OpenFile> slots;
  std::vector<Mapping> mappings;
};

NodeId TreeModel::State::opened(const Operation& operation) {
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
    if ((flags & O_DIRECTORY) != 0) tree.learn_kind(id, FileKind::directory);
  }
  if (id == kNoNode) return id;
  FileNode& node = tree.node(id);
  if (writes(flags)) tree.learn_kind(id, FileKind::file);
  if ((flags & O_CREAT) != 0 && node.data.origin() != Origin::before &&
      node.mode == FileNode::kNoMode) {
    node.mode = static_cast<std::uint16_t>(operation.mode & 0777);
  }
  if ((flags & O_TRUNC) != 0) {
    tree.learn_kind(id, FileKind::file);
    node.data.truncate(0);
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
  node.data.was_read(operation.offset, operation.length, got);
  tree.settle(id);
  operation.hole = node.data.hole(operation.offset, got);
}

void TreeModel::State::written(NodeId id, const Operation& operation) {
  FileNode& node = tree.node(id);
  tree.learn_kind(id, FileKind::file);
  const OpenFile* file = open_file(operation.file);
  const auto length = static_cast<std::uint64_t>(operation.expected);
  if (length == 0) return;
  // Appending shows where the end was.
  if ((file->flags & O_APPEND) != 0 && !node.data.exact()) {
    node.data.has_size(operation.offset);
    tree.settle(id);
  }
  node.data.write(operation.offset, length, operation.data == DataSource::generated);
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
    source.data.was_copied(operation.second, length);
    tree.settle(from);
  }
  tree.node(id).data.write(operation.offset, length, false);
}

void TreeModel::State::seen(NodeId id, const Operation& operation) {
  if (operation.mode == 0) return;
  tree.learn_kind(id, kind_of_mode(operation.mode));
  FileNode& node = tree.node(id);
  if (S_ISREG(operation.mode)) {
    node.data.has_size(operation.length);
    tree.settle(id);
  }
  const auto mode = static_cast<std::uint16_t>(operation.mode & 0777);
  if (node.mode == FileNode::kNoMode) node.initial_mode = mode;
  node.mode = mode;
}

void TreeModel::State::mapped(NodeId id, const Operation& operation) {
  if (operation.source >= kMaxSlots) return;
  tree.learn_kind(id, FileKind::file);
  tree.node(id).data.was_mapped(operation.offset, operation.length);
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
  FileData& data = tree.node(mapping.node).data;
  const std::uint64_t length = std::min(operation.length, mapping.length - operation.offset);
  data.was_mapped(mapping.offset + operation.offset, length);
  if ((operation.flags & 1) != 0 && mapping.shared()) {
    data.store(mapping.offset + operation.offset, length);
  }
}

void TreeModel::State::learn_text(NodeId id, TextId text) {
  if (id == kNoNode) return;
  tree.learn_kind(id, FileKind::symlink);
  FileNode& node = tree.node(id);
  if (node.kind == FileKind::symlink && node.text == 0) node.text = text;
}

// The file that an operation names, where that is known already.
void TreeModel::State::name_entry(Operation& operation) {
  using enum OperationKind;
  const Field fields = operation_info(operation.kind).fields;
  NodeId id = kNoNode;
  switch (operation.kind) {
    case unmap:
    case sync_map:
    case fault:
      if (const Mapping* known = mapping(operation.source)) id = known->node;
      break;
    case rename:
      id = tree.present(operation.old_path);
      break;
    case link:
      id = operation.file != kNoFile ? of_slot(operation.file) : tree.present(operation.old_path);
      break;
    case make_directory:
    case symlink:
    case make_node:
      break;
    case open:
      if (!is_nameless(operation.flags)) id = tree.present(operation.path);
      break;
    default:
      if (has(fields, Field::file) || (has(fields, Field::target) && operation.file != kNoFile)) {
        id = of_slot(operation.file);
      } else if (has(fields, Field::path) || has(fields, Field::target)) {
        id = tree.present(operation.path);
      }
  }
  operation.entry = id == kNoNode ? kNoFileId : tree.file_id(id);
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
        tree.node(id).data.truncate(operation.offset);
      }
      return;
    case copy_range:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) copied(id, operation);
      return;
    case allocate:
      if (const NodeId id = of_slot(operation.file); set_entry(id)) {
        tree.learn_kind(id, FileKind::file);
        tree.node(id).data.allocate(operation.flags, operation.offset, operation.length);
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
        if (operation.kind == execute) tree.learn_kind(id, FileKind::file);
        if (operation.kind == execute || (operation.mode & X_OK) != 0) node.runs = true;
      }
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
    case sync_map:
      name_entry(operation);
      if (const Mapping* known = mapping(operation.source)) {
        if (operation.kind == fault) {
          faulted(*known, operation);
        } else if (known->shared() && known->writable() && operation.offset < known->length) {
          // Nobody syncs a mapping without having stored into it.
          tree.node(known->node)
              .data.store(known->offset + operation.offset,
                          std::min(operation.length, known->length - operation.offset));
        }
      }
      return;
    case set_flags:
      if (OpenFile* file = open_file(operation.file)) {
        constexpr std::uint32_t kSettable = O_APPEND | O_DIRECT | O_NOATIME | O_NONBLOCK;
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

// A missing parent is all that can keep something new from being made.
void TreeModel::State::parent_missing(PathId path) {
  tree.found_missing(tree.parent(path));
}

void TreeModel::State::is_no_directory(const Operation& operation) {
  using enum OperationKind;
  const bool wants_directory = operation.kind == remove_directory ||
                               operation.kind == change_directory ||
                               (operation.kind == open && (operation.flags & O_DIRECTORY) != 0);
  const PathId parent = tree.parent(operation.path);
  if (wants_directory && tree.find(parent).presence == Presence::present) {
    tree.require_assumed(operation.path, FileKind::file);
  } else if (operation.kind != rename && tree.find(parent).presence == Presence::unknown) {
    tree.require_assumed(parent, FileKind::file);
  }
}

void TreeModel::State::name_taken(const Operation& operation) {
  using enum OperationKind;
  switch (operation.kind) {
    case make_directory:
      tree.require_assumed(operation.path, FileKind::directory);
      break;
    case open:
    case make_node:
      tree.require_assumed(operation.path, FileKind::file);
      break;
    default:
      tree.require(operation.path);
  }
}

void TreeModel::State::failed(const Operation& operation) {
  using enum OperationKind;
  const Field fields = operation_info(operation.kind).fields;
  const bool by_path =
      has(fields, Field::path) || (has(fields, Field::target) && operation.file == kNoFile);
  if (!by_path) {
    if (operation.kind == read && operation.expected == -EISDIR) {
      tree.learn_kind(of_slot(operation.file), FileKind::directory);
    }
    return;
  }
  switch (-operation.expected) {
    case ENOENT:
      switch (operation.kind) {
        case make_directory:
        case make_node:
        case symlink:
          parent_missing(operation.path);
          break;
        case open:
          if (is_nameless(operation.flags)) {
            tree.found_missing(operation.path);
          } else if ((operation.flags & O_CREAT) != 0) {
            parent_missing(operation.path);
          } else {
            tree.found_missing(operation.path);
          }
          break;
        case link:
        case rename:
          if (operation.kind == link && operation.file != kNoFile) {
            parent_missing(operation.path);
          } else if (tree.present(operation.old_path) == kNoNode) {
            tree.found_missing(operation.old_path);
          } else if ((operation.flags & RENAME_EXCHANGE) != 0) {
            tree.found_missing(operation.path);
          } else {
            parent_missing(operation.path);
          }
          break;
        default:
          tree.found_missing(operation.path);
      }
      break;
    case EEXIST:
      if (operation.kind == rename && (operation.flags & RENAME_NOREPLACE) == 0) {
        if (const NodeId id = tree.require_assumed(operation.path, FileKind::directory);
            id != kNoNode) {
          tree.found_not_empty(id);
        }
      } else if (operation.kind == remove_directory) {
        if (const NodeId id = tree.require(operation.path, FileKind::directory); id != kNoNode) {
          tree.found_not_empty(id);
        }
      } else {
        name_taken(operation);
      }
      break;
    case ENOTEMPTY:
      if (const NodeId id = tree.require(operation.path, FileKind::directory); id != kNoNode) {
        tree.found_not_empty(id);
      }
      break;
    case ENOTDIR:
      is_no_directory(operation);
      break;
    case EISDIR:
      if (operation.kind == open || operation.kind == unlink || operation.kind == truncate ||
          operation.kind == rename) {
        tree.require(operation.path, FileKind::directory);
      }
      break;
    case ELOOP:
      if (operation.kind == open && (operation.flags & O_NOFOLLOW) != 0) {
        tree.require(operation.path, FileKind::symlink);
      }
      break;
    case EINVAL:  // not a symbolic link
      if (operation.kind == read_link) tree.require(operation.path);
      break;
    case ENODATA:
    case ERANGE:
    case EOPNOTSUPP:
      if (has(fields, Field::target)) tree.require(operation.path);
      break;
    case EACCES:
      if (operation.kind == access || operation.kind == execute) tree.require(operation.path);
      break;
    default:
      break;
  }
}

TreeModel::TreeModel(TraceTables& tables) : state_(std::make_unique<State>(tables)) {}
TreeModel::~TreeModel() = default;

void TreeModel::begin_with(const FileSet& initial) {
  state_->tree.begin_with(initial);
}

void TreeModel::apply(Operation& operation) {
  if (operation.expected >= 0) {
    state_->succeeded(operation);
  } else {
    state_->failed(operation);
    state_->name_entry(operation);
  }
}

TreeModel::Presence TreeModel::presence(PathId path) const {
  return state_->tree.find(path).presence;
}

std::optional<TreeModel::Change> TreeModel::last_change(PathId path) const {
  return state_->tree.last_change(path);
}

bool TreeModel::is_directory(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id != kNoNode && state_->tree.node(id).kind == FileKind::directory;
}

std::optional<TextId> TreeModel::link_text(PathId path) const {
  const NodeId id = state_->tree.present(path);
  if (id == kNoNode) return {};
  const FileNode& node = state_->tree.node(id);
  if (node.kind != FileKind::symlink || node.text == 0) return {};
  return node.text;
}

void TreeModel::learn_link(PathId path, TextId text) {
  state_->learn_text(state_->tree.require(path), text);
}

FileId TreeModel::file_of(PathId path) const {
  const NodeId id = state_->tree.present(path);
  return id == kNoNode ? kNoFileId : state_->tree.file_id(id);
}

FileId TreeModel::file_of_slot(FileSlot slot) const {
  const NodeId id = state_->of_slot(slot);
  return id == kNoNode ? kNoFileId : state_->tree.file_id(id);
}

std::uint64_t TreeModel::size(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id == kNoNode ? 0 : state_->tree.node(id).data.size();
}

bool TreeModel::size_is_exact(FileId file) const {
  const NodeId id = state_->tree.node_of(file);
  return id != kNoNode && state_->tree.node(id).data.exact();
}

std::uint32_t TreeModel::files() const {
  return state_->tree.files();
}

TraceTrees TreeModel::trees() const {
  TraceTrees trees;
  trees.initial = state_->tree.initial_set();
  trees.absent = state_->tree.absent();
  trees.final = state_->tree.current_set();
  return trees;
}

FileSet TreeModel::current() const {
  return state_->tree.current_set();
}

}  // namespace filereel
