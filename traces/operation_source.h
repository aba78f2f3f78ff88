// Where a replayer gets its operations from.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "filesets/file_set.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// The operations of one thread, in program order. Implemented by workloads (traces/fc_test.h) and
// by vectors of operations in tests; reels and importers follow.
class OperationSource {
 public:
  virtual ~OperationSource() = default;

  // Fills `out` from its beginning and returns how many operations it holds now; 0 means the end.
  // Called inside the timed region: must neither allocate nor block.
  virtual std::size_t next(std::span<Operation> out) = 0;
};

// A trace ready to be replayed. `paths` and `files` must outlive it.
struct Trace {
  const PathTable* paths = nullptr;
  const FileSet* files = nullptr;  // what generated content and symlink texts refer to
  std::vector<std::unique_ptr<OperationSource>> threads;
  FileSlot slots = 0;            // open files per thread at the most
  std::uint64_t largest_io = 0;  // bytes of the largest read or write
};

}  // namespace filereel
