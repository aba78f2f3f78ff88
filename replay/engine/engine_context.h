// What the engines of all threads of a replay share.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "replay/engine/directory_changes.h"
#include "replay/engine/divergence_classifier.h"
#include "replay/engine/lane_board.h"
#include "traces/operation_source.h"

namespace filereel {

// The descriptor of an open file of the trace. Operations of several threads may use it. The
// schedule orders them; the members are atomic for the orders without such guarantees.
struct OpenFile {
  std::atomic<int> fd = -1;
  std::atomic<PathId> path = 0;
  std::atomic<bool> listed = false;  // a directory that is not at its first position

  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();  // closes a file left open by a replay
};

// A memory mapping of a file. `length` belongs to the thread that took `begin` out.
struct Mapping {
  std::atomic<std::byte*> begin = nullptr;
  std::atomic<std::uint64_t> length = 0;
  std::atomic<std::uint64_t> before = 0;  // bytes mapped before the start that the trace has

  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
};

// What is compared with the trace.
enum class Verify : std::uint8_t {
  results,  // return value and error of each operation
  content,  // also the data of each read
};

// Shared by all threads of a replay. All objects referred to outlive the engines, except the open
// files and mappings, which their owner closes before or after.
struct EngineContext {
  const PathTable* paths = nullptr;
  const TextTable* texts = nullptr;
  const FileSet* files = nullptr;            // null: content by FileId, see Trace::files
  std::uint64_t content_seed = 0;            // see Trace
  const HolesByFile* holes = nullptr;        // see Trace
  std::array<int, kRoots> roots = {-1, -1};  // descriptors of the root directories of near and far
  std::span<OpenFile> open_files;            // by FileSlot
  std::span<Mapping> mappings;               // by mapping
  std::uint64_t largest_io = 0;
  std::bitset<kOperationKinds> kinds;  // kinds that occur
  Verify verify = Verify::results;
  std::uint32_t queue_depth = 0;  // uring: requests in flight; 0: as recorded
  bool overlapping = false;       // see Trace
  bool poll = false;  // uring: poll for direct reads and writes (polling_unavailable_reason)
  bool change_owners = false;               // execute change_owner
  LaneBoard* board = nullptr;               // notified of every completed operation; null: no waits
  DivergenceClassifier* judge = nullptr;    // null: every divergence is a true mismatch
  DirectoryChanges* directories = nullptr;  // of all threads of the replay
  std::size_t kept_directories = 0;         // by each thread (ParentCache)
  std::uint64_t opening_ns = 0;             // see parent_cache.h
  std::uint64_t buffer_memory = 256 << 20;  // bytes for buffers of recorded traces, of all threads
  // For tests: collects every latency, which needs memory during the replay.
  std::vector<std::uint64_t>* latencies = nullptr;
  std::stop_token stop;
};

// Other extended attributes belong to the system: they are neither set nor compared.
inline bool is_user_attribute(std::string_view name) noexcept {
  return name.starts_with("user.");
}

}  // namespace filereel
