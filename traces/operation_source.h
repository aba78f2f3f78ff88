// Where a replayer gets its operations from.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "filesets/file_set.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// The operations of one thread, in program order. Implemented by workloads (traces/fc_test.h), by
// the lanes of a schedule (replay/schedule/schedule.h), and by vectors of operations in tests.
class OperationSource {
 public:
  virtual ~OperationSource() = default;

  // Fills `out` from its beginning and returns how many operations it holds now; 0 means the end.
  // Called inside the timed region: must not allocate, and blocks only where a trace that is larger
  // than memory has not been read so far yet.
  virtual std::size_t next(std::span<Operation> out) = 0;

  // Time is up: from now on only what belongs to the end is given (closing syncs and closes), then
  // the end. Called by the thread that calls next(), for sources that would go on for ever. Of what
  // the last next() gave, some may not have been executed.
  virtual void wind_up() noexcept {}

  // Whether next() would block now. What is in flight is waited for before: others may need it.
  virtual bool would_wait() const { return false; }
};

// A trace ready to be replayed. What it points to must outlive it.
struct Trace {
  const PathTable* paths = nullptr;
  const TextTable* texts = nullptr;
  // What generated content refers to. Null: content follows from the operation's FileId alone, as
  // for the trees of recorded traces (TraceTrees).
  const FileSet* files = nullptr;
  std::vector<std::unique_ptr<OperationSource>> threads;
  FileSlot slots = 0;            // numbers of open files are below this
  FileSlot mappings = 0;         // the same for mappings
  bool shared_slots = false;     // a number means the same open file in all threads
  std::uint64_t largest_io = 0;  // bytes of the largest read or write
  // By thread: requests in flight at once. Empty or 1: one after the other.
  std::vector<std::uint32_t> depths;
  // Requests in flight together may touch the same bytes: the order between them makes no
  // difference.
  bool overlapping = false;
  // By thread: the volume that is near to it; it has no far. Empty: near and far are what they are.
  std::vector<Role> volumes;
  // The kinds that occur; all if not known.
  std::bitset<kOperationKinds> kinds = std::bitset<kOperationKinds>().set();
};

}  // namespace filereel
