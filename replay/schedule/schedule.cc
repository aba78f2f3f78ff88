#include "replay/schedule/schedule.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/wording.h"
#include "replay/engine/replayer.h"
#include "replay/schedule/dependencies.h"
#include "replay/schedule/feeder.h"

namespace filereel {
namespace {

constexpr std::size_t kChunk = 512;  // operations
constexpr std::size_t kSmallestChunk = 16;
constexpr std::size_t kChunksPerLane = 4;

class LaneSource final : public OperationSource {
 public:
  LaneSource(LaneQueue& queue, ChunkPool& pool) : queue_(queue), pool_(pool) {}
  std::size_t next(std::span<Operation> out) override { return queue_.next(out, pool_); }
  bool would_wait() const override { return queue_.would_wait(); }

 private:
  LaneQueue& queue_;
  ChunkPool& pool_;
};

ScheduleOptions checked(ScheduleOptions options, const TraceInfo& info) {
  if (options.pace.kind != Pace::Kind::asap && !info.timed) {
    throw Error(ErrorKind::usage, fmt::format("the trace has no recorded times and cannot be "
                                              "replayed at pace {}; use --pace asap",
                                              pace_name(options.pace)));
  }
  // Where memory is limited, a quarter of what is left.
  constexpr std::size_t kLeast = 16 * 1024;
  const std::size_t fitting = memory_limit().left / 4 / sizeof(Operation);
  options.window = std::min(options.window, std::max(fitting, kLeast));
  return options;
}

// Each lane is a thread with buffers and histograms, and has a clock of all others.
constexpr std::size_t kMostLanes = 2048;
static_assert(kMostLanes < LanePosition::kMaxLanes);

Lanes checked(Lanes lanes) {
  if (lanes.count > kMostLanes) {
    throw Error(ErrorKind::failed,
                fmt::format("the trace has {}, more than the limit of {}; cut it by "
                            "thread first",
                            counted(lanes.count, "concurrent thread"), kMostLanes));
  }
  return lanes;
}

// Smaller chunks for many lanes, so that each can have some.
std::size_t chunk_operations(std::size_t window, std::size_t lanes) {
  return std::clamp(window / (kChunksPerLane * lanes), kSmallestChunk, kChunk);
}
std::size_t max_chunks(std::size_t window, std::size_t lanes) {
  return std::max(window / chunk_operations(window, lanes), lanes) + 1;
}

// Spare numbers: as many as the trace has, plus some, so that an open rarely waits for a close;
// fewer if the system does not allow it.
Dependencies::Spare spare_slots(const TraceInfo& info, std::size_t lanes) {
  constexpr std::size_t kSome = 64;
  const std::uint64_t allowed = highest_descriptor_limit();
  constexpr std::uint64_t kDirectories = 32;  // of each lane: rather these than spare numbers
  const std::uint64_t needed = descriptors_needed(info.slots + 2, lanes) + lanes * kDirectories;
  const std::uint64_t left = allowed > needed ? allowed - needed : 0;
  return {.slots = std::min<std::uint64_t>(info.slots + kSome, left),
          .mappings = info.mappings + kSome};
}

}  // namespace

struct Schedule::State {
  State(const TraceTables& its_tables, const TraceInfo& its_info,
        const ScheduleOptions& its_options)
      : options(checked(its_options, its_info)),
        tables(its_tables),
        info(its_info),
        lanes(checked(assign_lanes(its_info.threads))),
        board(lanes.count),
        pool(chunk_operations(options.window, lanes.count),
             max_chunks(options.window, lanes.count)),
        queues(lanes.count) {}

  ~State() { cancel(); }

  void start(RecordedSource& source);
  void cancel() noexcept;

  ScheduleOptions options;
  const TraceTables& tables;
  const TraceInfo& info;
  Lanes lanes;
  LaneBoard board;
  ChunkPool pool;
  std::vector<LaneQueue> queues;
  std::size_t slots = 0, mappings = 0;
  std::atomic<std::uint64_t> waits = 0;
  std::atomic<bool> cancelled = false;
  std::atomic<std::uint32_t> prefilled = 0;
  std::exception_ptr failure;
  std::atomic<bool> failed = false;  // `failure` is set
  std::unique_ptr<Feeder> feeder;
  std::jthread thread;
};

void Schedule::State::start(RecordedSource& source) {
  slots = info.slots;
  mappings = info.mappings;
  std::unique_ptr<Dependencies> dependencies;
  if (lanes.count > 1) {
    dependencies = std::make_unique<Dependencies>(options.order, tables, info, lanes.count,
                                                  spare_slots(info, lanes.count));
    slots = dependencies->slots();
    mappings = dependencies->mappings();
  }
  feeder = std::make_unique<Feeder>(
      source, lanes, Pacing(options.pace, info), options.pace.kind != Pace::Kind::asap,
      std::move(dependencies), Feeder::Output{pool, queues, board, waits, cancelled, prefilled});
  board.on_release([this] { cancel(); });
  thread = std::jthread([this] {
    try {
      feeder->run();
    } catch (...) {
      failure = std::current_exception();
      failed.store(true);
    }
    for (LaneQueue& queue : queues) queue.end();
    prefilled.store(1);
    prefilled.notify_all();
  });
}

void Schedule::State::cancel() noexcept {
  cancelled.store(true);
  pool.cancel();
  // The feeder may still wait for its source; the lanes must not.
  for (LaneQueue& queue : queues) queue.end();
}

Schedule::Schedule(RecordedSource& source, const TraceTables& tables, const TraceInfo& info,
                   const ScheduleOptions& options)
    : state_(std::make_unique<State>(tables, info, options)) {
  state_->start(source);
  state_->prefilled.wait(0);
  check();
}

Schedule::~Schedule() = default;

Trace Schedule::trace() {
  const TraceInfo& info = state_->info;
  Trace trace;
  trace.paths = &state_->tables.paths;
  trace.texts = &state_->tables.texts;
  trace.slots = static_cast<FileSlot>(state_->slots);
  trace.mappings = static_cast<FileSlot>(state_->mappings);
  trace.shared_slots = true;
  trace.largest_io = info.largest_io;
  trace.kinds.reset();
  for (std::size_t i = 0; i < kOperationKinds; ++i) trace.kinds[i] = info.by_kind[i] != 0;
  // The feeder adds pace operations; the trace itself has none.
  trace.kinds[static_cast<std::size_t>(OperationKind::pace)] =
      state_->options.pace.kind != Pace::Kind::asap;
  for (LaneQueue& queue : state_->queues) {
    trace.threads.push_back(std::make_unique<LaneSource>(queue, state_->pool));
  }
  return trace;
}

LaneBoard& Schedule::board() {
  return state_->board;
}

std::uint64_t Schedule::waits() const {
  return state_->waits.load();
}

void Schedule::check() const {
  if (state_->failed.load()) std::rethrow_exception(state_->failure);
}

}  // namespace filereel
