// Executes operations. Three implementations: blocking system calls, io_uring, and null, which
// makes no calls and so measures filereel's overhead.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "replay/engine/directory_changes.h"
#include "replay/engine/divergence_classifier.h"
#include "replay/engine/lane_board.h"
#include "replay/engine/statistics.h"
#include "traces/operation_source.h"

namespace filereel {

// Start times of the parts of a replay, on the stopwatch; 0: not yet.
struct ReplayTimes {
  std::uint64_t start_ns = 0;     // of the warm-up, if any
  std::uint64_t measured_ns = 0;  // start_ns, or the end of the warm-up
  std::uint64_t end_ns = 0;       // all threads have ended; the flush starts
  std::uint64_t durable_ns = 0;   // all data is on the device
};

// The progress of a replay.
struct ProgressSnapshot {
  ReplayTimes times;
  // Since times.measured_ns, or times.start_ns during the warm-up.
  std::uint64_t bytes = 0;  // read and written (moved_bytes)
  std::uint64_t files = 0;
  std::uint64_t operations = 0;
  Histogram latency;  // of all operations
};

// The counts of a running replay for other threads, and its final counts afterwards.
class ReplayProgress {
 public:
  ProgressSnapshot look() const;
  // Only the times, at low cost.
  ReplayTimes times() const;

  // For replay(). The statistics live until end().
  void begin(std::vector<const ReplayStatistics*> threads);
  void start(std::uint64_t start_ns, std::uint64_t warm_up_ns);
  void end();
  // Called by the thread that flushed the replay's data, after the flush.
  void durable();

 private:
  ReplayTimes known_times() const;
  ProgressSnapshot sum() const;

  mutable std::mutex mutex_;
  std::vector<const ReplayStatistics*> threads_;
  ReplayTimes times_;  // measured_ns may be in the future
  ProgressSnapshot last_;
};

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

// The result of an engine's execute().
enum class Execution : std::uint8_t {
  all,      // all operations were executed
  alarm,    // the alarm time was reached
  stopped,  // by a true mismatch if requested, or by the context's stop
};

// The engine of one thread: its buffer, requests in flight and statistics. Not shared between
// threads.
class IoEngine {
 public:
  virtual ~IoEngine() = default;

  // Call first, before the clock starts, on the executing thread.
  virtual void begin() noexcept {}
  // Call last, on the same thread, if begin() was called.
  virtual void end() noexcept {}

  // Prepares the next operation while there is time.
  virtual void prepare(const Operation&) noexcept {}

  // Executes `operations` (calls only, no barriers, awaits or paces) in order and removes them from
  // the front. Ends at the alarm, at the first true mismatch if `stop_on_divergence`, or when the
  // context's stop is requested. Neither throws nor allocates. Removed operations may still be
  // queued or in flight.
  virtual Execution execute(std::span<const Operation>& operations,
                            bool stop_on_divergence) noexcept = 0;

  // The stopwatch time after which execute() starts nothing more; never by default.
  virtual void set_alarm(std::uint64_t at_ns) noexcept = 0;

  // The stopwatch time at which the next operation is due; its latency is measured from then.
  virtual void set_due(std::uint64_t due_ns) noexcept = 0;

  // Completes everything taken. Call before waiting for other threads, and at the end. Returns
  // false for a true mismatch that stops the replay.
  virtual bool drain() noexcept = 0;

  // Returns at stopwatch time `due_ns`, at once if that is past, or soon after a requested stop.
  // Requests in flight continue, and are recorded when they complete. Returns false as drain()
  // does.
  virtual bool wait_until(std::uint64_t due_ns) noexcept = 0;

  virtual ReplayStatistics& statistics() = 0;
};

enum class EngineKind : std::uint8_t { blocking, uring, null };

std::string_view engine_name(EngineKind kind);
// Throws Error(usage) naming the engines.
EngineKind parse_engine(std::string_view name);
// Nothing, or why io_uring is unavailable and what to do.
std::optional<std::string> uring_unavailable_reason();
// Nothing, or why completions of requests to files below `directory` cannot be polled.
std::optional<std::string> polling_unavailable_reason(int directory);

// `lane` is the thread's index on the board. Throws Error(failed) if the engine cannot be set up.
std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t lane);

}  // namespace filereel
