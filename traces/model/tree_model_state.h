// State of the model: the tree, open files, and the conclusions from each operation.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>

#include "traces/model/file_tree.h"
#include "traces/model/tree_model.h"
#include "traces/open_flags.h"

namespace filereel {

struct TreeModel::State {
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

  void succeeded(Operation& operation);     // also sets `entry` and `hole`
  void failed(const Operation& operation);  // sets neither
  // Sets `entry` to the file that the operation names, if known.
  void name_entry(Operation& operation);

  // Operations that succeeded.
  NodeId opened(const Operation& operation);
  void closed(FileSlot slot);
  void was_read(NodeId id, Operation& operation);
  void written(NodeId id, const Operation& operation);
  void copied(NodeId id, const Operation& operation);
  void seen(NodeId id, const Operation& operation);
  void mapped(NodeId id, const Operation& operation);
  void unmapped(FileSlot number);
  void faulted(const Mapping& mapping, const Operation& operation);
  void synced(const Mapping& mapping, const Operation& operation);
  void prepared(NodeId id, const Operation& operation);
  void learn_text(NodeId id, TextId text);
  // The file that an operation works on: the open file, otherwise what must exist at its path.
  NodeId target(const Operation& operation) {
    return operation.file != kNoFile ? of_slot(operation.file) : tree.require(operation.path);
  }

  // Operations that failed.
  void missing(const Operation& operation);
  void parent_missing(PathId path);
  void not_empty(PathId path);
  void is_no_directory(const Operation& operation);
  void name_taken(const Operation& operation);

  FileTree tree;
  std::vector<OpenFile> slots;
  std::vector<Mapping> mappings;
  std::optional<std::pair<FileSlot, OpenedFile>> expected_open;  // see learn_opened
};

// Whether an open with these flags creates a file without a name.
inline bool is_nameless(std::uint32_t open_flags) {
  return (open_flags & open_flags::kTemporary) == open_flags::kTemporary;
}

}  // namespace filereel
