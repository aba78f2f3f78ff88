// How this folder works: a TraceBuilder (trace_builder.h) gets every operation of a new trace.
// TreeModel follows them, concludes from each result what must have existed, and gives each
// operation the number of its file. FileTree (file_tree.h) has names and nodes, FileData
// (file_data.h) the bytes of one file; tree_model_results.cc and tree_model.cc have the
// conclusions from operations that succeeded and failed. At the end the model yields the trees
// before and after. Start with TreeModel here, then tree_model_results.cc.
//
// What a trace implies about the tree it works on: which files must have existed before, what
// exists at any moment, and what remains.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/model/file_data.h"
#include "traces/operation.h"
#include "traces/recorded_trace.h"

namespace filereel {

enum class FileKind : std::uint8_t { unknown, file, directory, symlink, special };

// What a trace implies about each name of the tree now, for a comparison with a real tree. Unlike
// the trees of a reel, which a replay needs complete, it tells what is known from what is assumed.
struct ExpectedName {
  std::string_view name;  // one component, valid as long as the model
  bool present = false;   // otherwise the trace removed it or found it missing
  bool changed = false;   // the trace created, removed or renamed it
  bool made = false;      // the trace created the file
  FileKind kind = FileKind::unknown;
  FileId file = kNoFileId;
  std::uint32_t names = 0;                  // of the file, as far as known; all of them if `made`
  std::optional<std::uint64_t> size;        // bytes
  std::optional<std::uint32_t> mode;        // permission bits, 0777
  std::optional<std::uint64_t> least_size;  // if the size is not known exactly
  // The size of a file that the trace has created or found, whichever it was: if it has created it.
  std::optional<std::uint64_t> size_if_made;
  TextId text = 0;                     // target of a symbolic link; 0: unknown
  const DataRanges* ranges = nullptr;  // bytes that the trace wrote; null: not a regular file
};

struct ExpectedDirectory {
  std::string path;        // relative to the root of names; empty for the root
  std::uint32_t node = 0;  // for TreeModel::expected_names
  bool complete = false;   // made by the trace: names that it does not know do not exist
  bool changed = false;    // the trace created, removed or renamed names in it
  std::size_t names = 0;   // number of names, present or not
};

// Follows a trace operation by operation and trusts the recorded results. Anything that an
// operation needs and no earlier one created belongs to the initial tree: an opened file, its
// parent directories, the bytes read. Anything that an operation found missing is absent.
//
// Unknown children of a directory that existed before the trace belong to its original path,
// whatever it was renamed to since. Children of a directory created by the trace exist only if the
// trace created them. A hard link in the initial tree counts as a separate file.
class TreeModel {
 public:
  enum class Presence : std::uint8_t { unknown, absent, present };

  // `tables` outlives the model, which adds paths when directories are renamed.
  explicit TreeModel(TraceTables& tables);
  ~TreeModel();
  TreeModel(const TreeModel&) = delete;
  TreeModel& operator=(const TreeModel&) = delete;

  // Starts with a known tree: its entries exist below `at`, with their sizes and kinds, and so does
  // `at`; other paths stay unknown. Call it before the first operation.
  void begin_with(const FileSet& initial, PathId at = PathTable::root(Role::near));

  // Follows `operation`. Sets its `entry` (for open, operations on an open file, and operations
  // that name an existing file by path) and a read's `hole`. Impossible operations (on a slot that
  // is not open) change nothing.
  void apply(Operation& operation);

  // What is known about a path now.
  Presence presence(PathId path) const;
  // The position of the operation that last created, removed or renamed this name, and the state
  // before it; nullopt if there is none.
  struct Change {
    std::uint64_t position;
    Presence before;
  };
  std::optional<Change> last_change(PathId path) const;
  bool is_directory(PathId path) const;
  bool is_symlink(PathId path) const;
  // All that is known to be in this directory are pipes, sockets and devices, at least one.
  bool holds_only_nodes(PathId path) const;
  // The target if `path` is known to be a symbolic link with known target.
  std::optional<TextId> link_text(PathId path) const;
  // Adds a fact from the trace's source that operations do not show: `path` is a symbolic link.
  void learn_link(PathId path, TextId text);
  // The same with a text that leads to the right place but may be another one.
  void assume_link(PathId path, TextId text);

  // Adds a fact from the trace's source: where the initial file had holes, and where data was found
  // that must be there again. Affects trees only.
  void learn_hole(FileId file, std::uint64_t offset, std::uint64_t length);
  void learn_data(FileId file, std::uint64_t offset, std::uint64_t length);

  // What the real tree shows of a file that existed before the trace and has not changed since:
  // operations show only what the program asked for.
  struct ExistingFile {
    FileId file = kNoFileId;
    std::uint32_t mode = 0;             // st_mode; permissions 0: unknown
    std::optional<std::uint64_t> size;  // bytes
    TextId text = 0;                    // target of a symbolic link; 0: unknown
    std::vector<Hole> holes;
  };
  // Adds what is unknown so far. Affects trees only.
  void learn_existing(const ExistingFile& found);

  // Facts about an opened file that the trace's source saw and operations do not show.
  struct OpenedFile {
    bool existed = true;                // before the call; otherwise the call created it
    std::uint32_t mode = 0;             // st_mode of the existing file; 0: unknown
    std::optional<std::uint64_t> size;  // of the existing file, before the call
  };
  // `opened` describes what the next open of `slot` finds. It affects trees only: sizes reported
  // while the trace is built, and `hole`, depend only on operations.
  void learn_opened(FileSlot slot, const OpenedFile& opened);

  FileId file_of(PathId path) const;         // kNoFileId: unknown or absent
  FileId file_of_slot(FileSlot slot) const;  // kNoFileId: not open
  // The path of the file's most recent name; nullopt if it lost that name.
  std::optional<PathId> path_of(FileId file) const;
  // Bytes, as far as known: at least what was read or written; exact if `size_is_exact`.
  std::uint64_t size(FileId file) const;
  bool size_is_exact(FileId file) const;
  bool size_is_assumed(FileId file) const;  // a guess, although it counts as exact
  // Whether it existed before the trace, as far as known.
  bool is_initial(FileId file) const;

  std::uint32_t files() const;  // upper bound of FileIds
  // The initial tree is valid at the end, the current one at any moment; see TraceTrees.
  TraceTrees trees() const;
  // Everything that is known to exist now: the final tree so far, as the initial tree of what
  // follows.
  FileSet current() const;
  // The same with what is known and what is assumed told apart: all directories, from the root, and
  // the names in one of them (ExpectedDirectory::node).
  std::vector<ExpectedDirectory> expected_directories() const;
  std::vector<ExpectedName> expected_names(std::uint32_t directory) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
