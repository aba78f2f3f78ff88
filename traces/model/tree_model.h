// What a trace implies about the tree that it works on: which files there must have been before,
// what there is at any moment, what remains.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Follows a trace operation by operation, in its order, believing the recorded results. Whatever an
// operation needs and none before it made is part of the initial tree: a file that is opened, the
// directories on the way, the bytes that were read. What an operation found missing is absent.
//
// Unknown children of a directory that existed before are where that directory was before, whatever
// it was renamed to since. Children of a directory that the trace made do not exist unless it made
// them. A hard link of the initial tree is seen as a file of its own.
class TreeModel {
 public:
  enum class Presence : std::uint8_t { unknown, absent, present };

  // `tables` outlives the model, which adds paths to it when directories are renamed.
  explicit TreeModel(TraceTables& tables);
  ~TreeModel();
  TreeModel(const TreeModel&) = delete;
  TreeModel& operator=(const TreeModel&) = delete;

  // Begins with a tree that is known already: its entries exist below `at`, with their sizes and
  // kinds, and so does `at`; other paths stay unknown. To be called before the first operation.
  void begin_with(const FileSet& initial, PathId at = PathTable::root(Role::near));

  // Follows `operation` and sets its `entry` (open, everything that uses an open file, and what
  // names an existing file by its path) and a read's `hole`. Impossible operations (a slot that is
  // not open) change nothing.
  void apply(Operation& operation);

  // What is known of a path now.
  Presence presence(PathId path) const;
  // The position of the operation that last created, removed or renamed what has this name, and
  // what was known before it; nothing if none did.
  struct Change {
    std::uint64_t position;
    Presence before;
  };
  std::optional<Change> last_change(PathId path) const;
  bool is_directory(PathId path) const;
  bool is_symlink(PathId path) const;
  // The text if `path` is known to be a symbolic link now and its text is known.
  std::optional<TextId> link_text(PathId path) const;
  // Makes known what the trace's source says beside the operations: `path` is a symbolic link.
  void learn_link(PathId path, TextId text);

  // What the trace's source saw of a file as it was opened, beside what operations say.
  struct OpenedFile {
    bool existed = true;                // before the call; else the call made it
    std::uint32_t mode = 0;             // st_mode of what existed; 0: not known
    std::optional<std::uint64_t> size;  // of what existed, before the call
  };
  // `opened` is what the next open of `slot` finds. Only trees show it: what is said of sizes while
  // the trace is made, and `hole`, stay what operations tell.
  void learn_opened(FileSlot slot, const OpenedFile& opened);

  FileId file_of(PathId path) const;         // kNoFileId: unknown or absent
  FileId file_of_slot(FileSlot slot) const;  // kNoFileId: not open
  // The name that the file got last, if it still has it: its path, else nothing.
  std::optional<PathId> path_of(FileId file) const;
  // Bytes, as far as they are known: at least what was read or written; exact where
  // `size_is_exact`.
  std::uint64_t size(FileId file) const;
  bool size_is_exact(FileId file) const;
  // Whether it was there before the trace, as far as is known.
  bool is_initial(FileId file) const;

  std::uint32_t files() const;  // FileIds are below this
  // At the end (initial) or at any moment (current); see TraceTrees.
  TraceTrees trees() const;
  // What exists now of all that is known: the final tree so far, as an initial tree for what
  // follows.
  FileSet current() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
