// Executes operations. Three implementations: blocking system calls, io_uring, and null, which does
// all but the calls and so measures filereel's own cost.
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

#include "replay/engine/divergence_judge.h"
#include "replay/engine/lane_board.h"
#include "replay/engine/statistics.h"
#include "traces/operation_source.h"

namespace filereel {

// When the parts of a replay began, of the stopwatch; 0: not yet.
struct ReplayTimes {
  std::uint64_t start_ns = 0;     // of the warm-up, where there is one
  std::uint64_t measured_ns = 0;  // start_ns, or the end of the warm-up
  std::uint64_t end_ns = 0;       // all threads have ended: what they wrote is flushed now
  std::uint64_t durable_ns = 0;   // all of it is on the device
};

// How far a replay is.
struct ReplayLook {
  ReplayTimes times;
  // Since times.measured_ns, before that since times.start_ns.
  std::uint64_t bytes = 0;  // content; where data is read and written at will, all that was moved
  std::uint64_t files = 0;  // operations, of a recorded trace
  std::uint64_t operations = 0;
  Histogram latency;  // of all operations
};

// What the figures of a replay's progress count.
struct ProgressUnits {
  bool recorded = false;  // ReplayLook::files are operations
  bool moved = false;     // ReplayLook::bytes are all that was read, written or copied
};

// What a replay has counted so far, for other threads while it runs; what it came to afterwards.
class ReplayProgress {
 public:
  ReplayLook look() const;
  // A part of that, for little.
  ReplayTimes times() const;

  // For replay(). The statistics live until end().
  void begin(std::vector<const ReplayStatistics*> threads, ProgressUnits units);
  void start(std::uint64_t start_ns, std::uint64_t warm_up_ns);
  void end();
  // For who flushes what the replay has written, after that.
  void durable();

 private:
  ReplayTimes known_times() const;
  ReplayLook sum() const;

  mutable std::mutex mutex_;
  std::vector<const ReplayStatistics*> threads_;
  ProgressUnits units_;
  ReplayTimes times_;  // measured_ns also while it is still to come
  ReplayLook last_;
};

// The real descriptor of each open file of the trace. Operations of several threads may use one;
// the schedule keeps them apart, so the members are atomic only for the orders that do not.
struct OpenFile {
  std::atomic<int> fd = -1;
  std::atomic<PathId> path = 0;
  std::atomic<bool> listed = false;  // a directory whose position is not its beginning

  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();  // closes what a replay left open
};

// A range of memory that a file is mapped to. `length` belongs to whoever took `begin` out.
struct Mapping {
  std::atomic<std::byte*> begin = nullptr;
  std::atomic<std::uint64_t> length = 0;

  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
};

// How far results are compared with the trace.
enum class Verify : std::uint8_t {
  results,  // return value and error of each operation
  content,  // also that each read gives what was written
};

// What all threads of a replay share. Everything referred to outlives the engines, except the open
// files and mappings: those are closed by their owner, before or after.
struct EngineContext {
  const PathTable* paths = nullptr;
  const TextTable* texts = nullptr;
  const FileSet* files = nullptr;            // null: content by FileId, see Trace::files
  std::array<int, kRoots> roots = {-1, -1};  // descriptors of near's and far's root directories
  std::span<OpenFile> open_files;            // by FileSlot
  std::span<Mapping> mappings;               // by mapping
  std::uint64_t largest_io = 0;
  std::bitset<kOperationKinds> kinds;  // those that occur
  Verify verify = Verify::results;
  std::uint32_t queue_depth = 0;     // uring: 0 as recorded, else so many requests in flight
  bool overlapping = false;          // see Trace
  bool poll = false;                 // uring: poll for direct reads and writes (why_no_polling)
  bool change_owners = false;        // execute change_owner
  LaneBoard* board = nullptr;        // told of every operation done; null: nobody waits
  DivergenceJudge* judge = nullptr;  // null: every divergence is a true mismatch
  // Bumped when a directory got another name or none: cached directories may be stale.
  std::atomic<std::uint64_t>* directories = nullptr;
  // Every latency as it is counted, for tests of what is made of them: it takes memory meanwhile.
  std::vector<std::uint64_t>* latencies = nullptr;
  std::stop_token stop;
};

// Extended attributes of other names are the system's: they are neither set nor compared.
inline bool is_user_attribute(std::string_view name) noexcept {
  return name.starts_with("user.");
}

// How an engine's execute() ended.
enum class Execution : std::uint8_t {
  all,      // everything was executed
  alarm,    // the alarm's time came
  stopped,  // at a true mismatch that was to stop it, or at the context's stop
};

// One thread's engine: its buffer, its requests in flight, its statistics. Not shared between
// threads.
class IoEngine {
 public:
  virtual ~IoEngine() = default;

  // To be called before everything else, before the clock starts and by the thread that is to
  // execute.
  virtual void begin() noexcept {}
  // To be called after everything else by the same thread, if it has called begin().
  virtual void end() noexcept {}

  // Makes ready, while there is time, what the next operation needs.
  virtual void prepare(const Operation&) noexcept {}

  // Executes `operations` (calls only, no barriers, awaits or paces) in order and takes them from
  // their front, until the alarm, until the first true mismatch if `stop_on_divergence`, or until
  // the context's stop is requested. Neither throws nor allocates. What was taken may be in flight
  // or still about to be.
  virtual Execution execute(std::span<const Operation>& operations,
                            bool stop_on_divergence) noexcept = 0;

  // The time of the stopwatch from which on execute() begins nothing more; never until it is set.
  virtual void set_alarm(std::uint64_t at_ns) noexcept = 0;

  // The time of the stopwatch at which the next operation was due: its latency counts from then.
  virtual void set_due(std::uint64_t due_ns) noexcept = 0;

  // Sees everything that was taken to its end. To be called before waiting for other threads, and
  // at the end. False: there was a true mismatch that was to stop it.
  virtual bool drain() noexcept = 0;

  // Returns at `due_ns` of the stopwatch, at once if that is past, or soon after a requested stop.
  // What is in flight goes on, and is seen when it ends. False: as of drain().
  virtual bool wait_until(std::uint64_t due_ns) noexcept = 0;

  virtual ReplayStatistics& statistics() = 0;
};

enum class EngineKind : std::uint8_t { blocking, uring, null };

std::string_view engine_name(EngineKind kind);
// Throws Error(usage) that names the engines there are.
EngineKind parse_engine(std::string_view name);
// Nothing, or why this kernel cannot do io_uring and what to do.
std::optional<std::string> why_no_uring();
// Nothing, or why requests to files below `directory` cannot be polled for.
std::optional<std::string> why_no_polling(int directory);

// `lane` is the thread's number on the board. Throws Error(failed) if the engine cannot be set up.
std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t lane);

}  // namespace filereel
