#include "replay/engine/replayer.h"

#include <algorithm>
#include <barrier>
#include <bitset>
#include <functional>
#include <latch>
#include <new>
#include <thread>
#include <vector>

#include <errno.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "filesets/error.h"
#include "filesets/units.h"
#include "replay/engine/descriptor_limit.h"
#include "replay/engine/precise_sleep.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

// Small enough for the first-level cache, large enough that refilling does not show.
constexpr std::size_t kBatch = 64;

struct Cpu {
  double user_s, system_s;
};

Cpu cpu_used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

struct ThreadRun {
  std::unique_ptr<IoEngine> engine;
  std::uint64_t start_ns = 0, end_ns = 0;
  bool complete = false;
};

void publish(const ReplayStatistics& statistics, bool recorded, ReplayStatistics::Published& last,
             ReplayProgress& progress) {
  const ReplayStatistics::Published now =
      recorded ? statistics.published_operations() : statistics.published();
  progress.bytes.fetch_add(now.bytes - last.bytes, std::memory_order_relaxed);
  progress.files.fetch_add(now.files - last.files, std::memory_order_relaxed);
  last = now;
}

// Stops all threads of a replay: one thread's failure does, and whoever may stop the replay.
class Stop {
 public:
  explicit Stop(const ReplayOptions& options)
      : board_(options.board), forward_(options.stop, [this] { request(); }) {}

  void request() {
    source_.request_stop();
    if (board_) board_->release_all();
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  LaneBoard* board_;
  std::stop_callback<std::function<void()>> forward_;  // last: may be called at once
};

// What the threads of a replay share beside the engines' context.
struct Replay {
  const ReplayOptions& options;
  std::barrier<>& meeting;
  std::stop_token stop;
  const std::uint64_t& start_ns;  // set before the first operation
  std::bitset<kOperationKinds> calls;
  bool paced;
};

// Takes one thread through its operations.
class Lane {
 public:
  Lane(const Replay& replay, OperationSource& source, IoEngine& engine, std::uint32_t number)
      : replay_(replay), source_(source), engine_(engine), number_(number), thinks_(replay.paced) {}

  // To the end; false if it stopped early.
  bool run() {
    last_end_ns_ = replay_.start_ns;
    for (;;) {
      if (source_.would_wait() && !engine_.drain()) return false;
      const std::size_t filled = source_.next(batch_);
      if (filled == 0) return engine_.drain() && !was_cut_short();
      if (!replay_.options.board) number(filled);
      if (!execute({batch_.data(), filled})) return false;
      if (replay_.options.progress) {
        publish(engine_.statistics(), replay_.options.board != nullptr, published_,
                *replay_.options.progress);
      }
    }
  }

 private:
  // A schedule that is stopped ends its lanes.
  bool was_cut_short() const { return replay_.options.board && replay_.options.board->released(); }

  // A workload numbers nothing.
  void number(std::size_t filled) {
    for (std::size_t i = 0; i < filled; ++i) {
      batch_[i].thread = number_;
      batch_[i].position = position_;
      if (is_call(batch_[i])) ++position_;
    }
  }

  bool is_call(const Operation& operation) const {
    return replay_.calls[static_cast<std::size_t>(operation.kind)];
  }

  bool execute(std::span<const Operation> rest) {
    while (!rest.empty()) {
      const auto control =
          std::ranges::find_if(rest, [this](const Operation& op) { return !is_call(op); });
      const auto calls = static_cast<std::size_t>(control - rest.begin());
      if (calls != 0) {
        if (!engine_.execute(rest.first(calls), replay_.options.stop_on_divergence)) return false;
        if (thinks_) last_end_ns_ = now_ns();
      }
      if (control == rest.end()) break;
      rest = rest.subspan(calls + 1);
      if (control->kind == OperationKind::pace && !rest.empty()) engine_.prepare(rest.front());
      if (!obey(*control)) return false;
    }
    return true;
  }

  // An operation that orders the replay. What the engine has in flight is waited for before this
  // thread waits for others, who may wait for just that, and before it counts what it did itself.
  bool obey(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::pace:
        return pace(operation);
      case OperationKind::await:
        if (!engine_.drain()) return false;
        if (replay_.options.board) replay_.options.board->wait(operation.source, operation.second);
        return !replay_.stop.stop_requested();
      case OperationKind::barrier:
        if (!engine_.drain()) return false;
        replay_.meeting.arrive_and_wait();
        return true;
      case OperationKind::make_node:
        ++engine_.statistics().refused;
        if (replay_.options.judge && operation.expected >= 0) {
          replay_.options.judge->judge(operation, operation.path, -EPERM);
        }
        break;
      default:  // fork, join, exit: the schedule has turned them into awaits
        break;
    }
    if (!engine_.drain()) return false;
    if (replay_.options.board) replay_.options.board->advance(number_);
    if (thinks_) last_end_ns_ = now_ns();
    return true;
  }

  bool pace(const Operation& operation) {
    std::uint64_t now = now_ns();
    if (!paced_) prepare_precise_sleep();
    paced_ = true;
    std::uint64_t due = operation.offset;
    switch (operation.flags) {
      case pace_flags::kFromLastEnd:
        due += last_end_ns_;
        break;
      case pace_flags::kFromNow:
        due += now;
        break;
      default:
        due += replay_.start_ns;
        break;
    }
    if (due > now) {
      if (!engine_.wait_until(due) || replay_.stop.stop_requested()) return false;
      now = now_ns();
    }
    engine_.statistics().lateness.record(now > due ? now - due : 0);
    return true;
  }

  const Replay& replay_;
  OperationSource& source_;
  IoEngine& engine_;
  std::uint32_t number_;
  std::uint64_t position_ = 0;
  std::uint64_t last_end_ns_ = 0;  // of an operation, while it thinks
  bool paced_ = false;
  bool thinks_;  // operations may begin so long after the last one's end
  ReplayStatistics::Published published_;
  std::array<Operation, kBatch> batch_;
};

std::bitset<kOperationKinds> calls() {
  std::bitset<kOperationKinds> result;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    result[i] = operation_info(static_cast<OperationKind>(i)).is_call;
  }
  return result;
}

}  // namespace

ReplayOutcome replay(Trace trace, const std::array<int, kRoles>& roots,
                     const ReplayOptions& options) {
  const std::size_t count = trace.threads.size();
  Stop stop(options);
  std::barrier<> meeting(static_cast<std::ptrdiff_t>(count));
  std::latch ready(static_cast<std::ptrdiff_t>(count));
  std::latch go(1);
  std::vector<ThreadRun> runs(count);

  if (options.engine != EngineKind::null) {
    allow_descriptors(trace.shared_slots ? trace.slots : trace.slots * count, count);
  }
  std::vector<OpenFile> open_files(trace.shared_slots ? trace.slots : trace.slots * count);
  std::vector<Mapping> mappings(trace.mappings);
  std::atomic<std::uint64_t> directories = 0;
  std::uint64_t start_ns = 0;
  EngineContext context{.paths = trace.paths,
                        .texts = trace.texts,
                        .files = trace.files,
                        .roots = roots,
                        .open_files = open_files,
                        .mappings = mappings,
                        .largest_io = trace.largest_io,
                        .kinds = trace.kinds,
                        .verify = options.verify,
                        .queue_depth = options.queue_depth,
                        .change_owners = options.change_owners,
                        .board = options.board,
                        .judge = options.judge,
                        .directories = &directories,
                        .start_ns = &start_ns,
                        .stop = stop.token()};
  for (std::size_t i = 0; i < count; ++i) {
    if (!trace.shared_slots) {
      context.open_files = std::span(open_files).subspan(i * trace.slots, trace.slots);
    }
    try {
      runs[i].engine = make_engine(options.engine, context, static_cast<std::uint32_t>(i));
      runs[i].engine->statistics().prepare(trace.kinds);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::failed,
                  fmt::format("not enough memory for {} threads with buffers of {} each", count,
                              format_size(trace.largest_io)));
    }
  }
  const Replay shared{options,      meeting,
                      stop.token(), start_ns,
                      calls(),      trace.kinds[static_cast<std::size_t>(OperationKind::pace)]};
  Cpu before{}, after{};
  {
    std::vector<std::jthread> threads;
    // Those that run already must not wait for those that will never come.
    const auto give_up = [&] {
      stop.request();
      for (std::size_t i = threads.size(); i < count; ++i) meeting.arrive_and_drop();
      go.count_down();
    };
    const auto start = [&](std::size_t i) {
      threads.emplace_back([&, i] {
        ThreadRun& run = runs[i];
        ready.count_down();
        go.wait();
        run.start_ns = now_ns();
        run.complete =
            Lane(shared, *trace.threads[i], *run.engine, static_cast<std::uint32_t>(i)).run();
        run.end_ns = now_ns();
        if (!run.complete) stop.request();
        meeting.arrive_and_drop();  // nobody waits for this thread any more
      });
    };
    try {
      for (std::size_t i = 0; i < count; ++i) start(i);
    } catch (const std::exception& error) {
      give_up();
      throw Error(ErrorKind::failed,
                  fmt::format("cannot start {} threads: {}; use fewer, or raise the limits of "
                              "processes (ulimit -u) and memory",
                              count, error.what()));
    }
    ready.wait();
    before = cpu_used();
    start_ns = now_ns();
    go.count_down();
  }
  after = cpu_used();

  ReplayOutcome outcome;
  outcome.complete = true;
  std::uint64_t start = UINT64_MAX, end = 0;
  for (const ThreadRun& run : runs) {
    start = std::min(start, run.start_ns);
    end = std::max(end, run.end_ns);
    outcome.statistics.merge(run.engine->statistics());
    outcome.complete = outcome.complete && run.complete;
  }
  if (count != 0) outcome.elapsed_s = static_cast<double>(end - start) * 1e-9;
  outcome.end_ns = count != 0 ? end : now_ns();
  outcome.cpu_user_s = after.user_s - before.user_s;
  outcome.cpu_system_s = after.system_s - before.system_s;
  return outcome;
}

}  // namespace filereel
