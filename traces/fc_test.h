// The FC-Test workload: what is done to a file set on two volumes, as streams of operations.
//
// The set lies in kOriginal on near; "copy near" makes kCopy on near, "copy far" makes kCopy on
// far. Files are worked on in the set's own order, one after another, as FC-Test 1.0 did with its
// lists (X-bit labs, "FC-Test 1.0: Closer Look", 2002).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "traces/operation_source.h"

namespace filereel {

enum class FcStep : std::uint8_t { create, read, copy_near, copy_far, remove };
inline constexpr std::size_t kFcSteps = 5;

// "create", "read", "copy-near", "copy-far", "delete": as on the command line and in results.
std::string_view fc_step_name(FcStep step);
FcStep parse_fc_step(std::string_view name);  // throws Error(usage)

struct FcTestOptions {
  // Bytes of one read or write. 128 KiB is what cp of GNU coreutils 9 uses.
  std::uint64_t block_size = 128 * 1024;
  CopyMethod copy_method = CopyMethod::readwrite;
  bool fill_holes = false;    // write them out as zeros, for file systems that have none
  std::uint32_t threads = 1;  // files are dealt out to them in turn; directories are made first
};

class FcTest {
 public:
  static constexpr std::string_view kOriginal = "original";
  static constexpr std::string_view kCopy = "copy";

  // `set` must obey check_file_set and outlive this object and every trace made by it.
  FcTest(const FileSet& set, const FcTestOptions& options);

  // The operations of one step, to be replayed on volumes that are in the state that the steps
  // before it leave. The trace must not outlive this object.
  Trace trace(FcStep step) const;

  const PathTable& paths() const { return paths_; }

  // What the step is for: bytes of content read or written (copies: once), and regular files.
  std::uint64_t bytes() const { return totals_.bytes; }
  std::uint64_t files() const { return totals_.files; }
  std::uint32_t threads() const { return options_.threads; }

 private:
  const FileSet& set_;
  FcTestOptions options_;
  FileSetTotals totals_;
  PathTable paths_;
  TextTable texts_;
  std::vector<TextId> targets_;                          // by entry: the text of a symbolic link
  std::vector<PathId> original_, near_copy_, far_copy_;  // by entry, then the tree's root last
  std::vector<std::uint32_t> link_targets_;              // by entry: the entry a hard link names
};

}  // namespace filereel
