// The FC-Test workload: streams of operations that process a file set on two volumes.
//
// The set is in kOriginal on near. "copy near" creates kCopy on near, "copy far" creates kCopy on
// far. One thread processes the files in the set's order, as FC-Test 1.0 did with its lists (X-bit
// labs, "FC-Test 1.0: Closer Look", 2002).
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "filesets/file_set.h"
#include "traces/operation_source.h"
#include "traces/operation_stream.h"

namespace filereel {

enum class FcStep : std::uint8_t { create, read, copy_near, copy_far, remove };
inline constexpr std::size_t kFcSteps = 5;

// "create", "read", "copy-near", "copy-far", "delete": names on the command line and in results.
std::string_view fc_step_name(FcStep step);
FcStep parse_fc_step(std::string_view name);  // throws ValueError(usage)

struct FcTestOptions {
  // Bytes per read or write. cp of GNU coreutils 9 uses 128 KiB.
  std::uint64_t block_size = 128 * 1024;
  CopyMethod copy_method = CopyMethod::readwrite;
  bool fill_holes = false;  // write holes as zeros, for file systems without sparse files
  // Each takes the next file when it has completed one. With several, directories are created
  // first, and the largest files come first.
  std::uint32_t threads = 1;
  // Of clients that share the set, this one's number and their number. Files are distributed by
  // size. Directories exist beforehand and remain.
  bool shared = false;
  std::uint32_t part = 0, parts = 1;
  // The copies whose names are needed: those of steps that are asked for. Each takes 24 bytes per
  // entry.
  bool near_copy = true, far_copy = true;
};

class FcTest {
 public:
  static constexpr std::string_view kOriginal = "original";
  static constexpr std::string_view kCopy = "copy";

  // `set` must pass check_file_set and outlive this object and every trace it creates.
  FcTest(const FileSet& set, const FcTestOptions& options);

  // The operations of one step, to be replayed on volumes in the state left by the preceding steps.
  // The trace must not outlive this object.
  Trace trace(FcStep step) const;
  // The reads of the copy that `copies` (copy_near or copy_far) left.
  Trace trace_of_copy(FcStep copies) const;

  const PathTable& paths() const { return paths_; }

  // Totals of the step, of this part: bytes of content read or written (copies count once), and
  // regular files.
  std::uint64_t bytes() const { return totals_.bytes; }
  std::uint64_t files() const { return totals_.files; }
  std::uint32_t threads() const { return options_.threads; }

 private:
  // The paths of a copy of the set: its root, followed by the entries in order.
  struct Tree {
    PathId root = PathTable::kNone;

    bool exists() const { return root != PathTable::kNone; }
    PathId of(std::uint32_t entry) const { return root + 1 + entry; }
  };
  struct HardLink {
    std::uint32_t link, target;  // entries
  };
  struct Part;
  class Queue;

  Tree add_tree(Role role, std::string_view name);
  void add_links();
  void distribute();
  bool is_own(std::uint32_t entry) const;
  void count_own();
  std::vector<std::uint32_t> queued_entries(FcStep step) const;
  Trace make_trace(FcStep step, Tree from, Tree to) const;
  static OperationStream make_tree(Part part);
  static OperationStream read_tree(Part part);
  static OperationStream remove_tree(Part part);

  const FileSet& set_;
  FcTestOptions options_;
  FileSetTotals totals_;
  PathTable paths_;
  TextTable texts_;
  Tree original_, near_copy_, far_copy_;
  std::unordered_map<std::uint32_t, TextId> targets_;  // of symbolic links, by entry
  std::vector<HardLink> hard_links_;                   // of all parts
  std::vector<std::uint32_t> owners_;                  // parts by entry; empty: there is one part
};

}  // namespace filereel
