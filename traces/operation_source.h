// The replay's source of operations.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "filesets/file_set.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// The operations of one thread, in program order. Implemented by workloads (traces/fc_test.h), by
// the lanes of a schedule (replay/schedule/schedule.h) and by vectors of operations in tests.
class OperationSource {
 public:
  virtual ~OperationSource() = default;

  // Fills `out` from the start and returns the number of operations; 0 means the end. Called inside
  // the timed region: must not allocate. Blocks only if the trace is larger than memory and has not
  // been read this far yet.
  virtual std::size_t next(std::span<Operation> out) = 0;

  // Time is up: from now on next() returns only closing operations (syncs and closes), then the
  // end. Called by the thread that calls next(), for sources without an end. Some operations of the
  // last next() may not have been executed.
  virtual void wind_up() noexcept {}

  // Whether next() would block now. The caller first waits for requests in flight, because other
  // threads may need their results.
  virtual bool would_wait() const { return false; }
};

// The holes of files before a recorded trace.
using HolesByFile = std::unordered_map<FileId, std::vector<Hole>>;

// A trace ready for replay. Everything it points to must outlive it.
struct Trace {
  const PathTable* paths = nullptr;
  const TextTable* texts = nullptr;
  // The files that generated content refers to. Null: content depends only on the operation's
  // FileId, as for the trees of recorded traces (TraceTrees).
  const FileSet* files = nullptr;
  std::uint64_t content_seed = 0;      // without files: the seed of generated content
  const HolesByFile* holes = nullptr;  // null: none
  std::vector<std::unique_ptr<OperationSource>> threads;
  FileSlot slots = 0;            // upper bound of open-file numbers
  FileSlot mappings = 0;         // upper bound of mapping numbers
  bool shared_slots = false;     // a number denotes the same open file in all threads
  std::uint64_t largest_io = 0;  // bytes of the largest read or write
  // By thread: queue depth. Empty or 1: synchronous.
  std::vector<std::uint32_t> depths;
  // Requests in flight may overlap in the file: their order makes no difference.
  bool overlapping = false;
  // By thread: the volume it uses as near; it has no far volume. Empty: near and far keep their
  // meaning.
  std::vector<Role> volumes;
  // The kinds that occur; all if unknown.
  std::bitset<kOperationKinds> kinds = std::bitset<kOperationKinds>().set();
};

}  // namespace filereel
