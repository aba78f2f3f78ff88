#include "replay/engine/replayer.h"

#include <algorithm>
#include <barrier>
#include <latch>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "filesets/error.h"
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

void publish(const ReplayStatistics& statistics, ReplayStatistics::Published& last,
             ReplayProgress& progress) {
  const ReplayStatistics::Published now = statistics.published();
  progress.bytes.fetch_add(now.bytes - last.bytes, std::memory_order_relaxed);
  progress.files.fetch_add(now.files - last.files, std::memory_order_relaxed);
  last = now;
}

// Executes one thread's operations to the end; false if it stopped early.
bool run_thread(OperationSource& source, IoEngine& engine, std::barrier<>& meeting,
                std::uint32_t lane, const ReplayOptions& options) {
  std::array<Operation, kBatch> batch;
  std::uint64_t position = 0;
  ReplayStatistics::Published published;
  for (;;) {
    const std::size_t filled = source.next(batch);
    if (filled == 0) return true;
    if (!options.board) {  // a workload numbers nothing
      for (std::size_t i = 0; i < filled; ++i) {
        batch[i].thread = lane;
        batch[i].position = position;
        if (operation_info(batch[i].kind).is_call) ++position;
      }
    }
    std::span<const Operation> rest(batch.data(), filled);
    while (!rest.empty()) {
      const auto barrier = std::ranges::find(rest, OperationKind::barrier, &Operation::kind);
      const auto run = static_cast<std::size_t>(barrier - rest.begin());
      if (!engine.execute(rest.first(run), options.stop_on_divergence)) return false;
      if (options.progress) publish(engine.statistics(), published, *options.progress);
      if (barrier == rest.end()) break;
      meeting.arrive_and_wait();
      rest = rest.subspan(run + 1);
    }
  }
}

}  // namespace

ReplayOutcome replay(Trace trace, const std::array<int, kRoles>& roots,
                     const ReplayOptions& options) {
  const std::size_t count = trace.threads.size();
  std::stop_source stop;  // one thread's failure stops all
  const std::stop_callback forward(options.stop, [&stop] { stop.request_stop(); });
  std::barrier<> meeting(static_cast<std::ptrdiff_t>(count));
  std::latch ready(static_cast<std::ptrdiff_t>(count));
  std::latch go(1);
  std::vector<ThreadRun> runs(count);

  std::vector<OpenFile> open_files(trace.shared_slots ? trace.slots : trace.slots * count);
  std::vector<Mapping> mappings(trace.mappings);
  std::atomic<std::uint64_t> directories = 0;
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
                        .start_ns = 0,
                        .stop = stop.get_token()};
  for (std::size_t i = 0; i < count; ++i) {
    if (!trace.shared_slots) {
      context.open_files = std::span(open_files).subspan(i * trace.slots, trace.slots);
    }
    runs[i].engine = make_engine(options.engine, context, static_cast<std::uint32_t>(i));
  }
  Cpu before{}, after{};
  {
    std::vector<std::jthread> threads;
    // Those that run already must not wait for those that will never come.
    const auto give_up = [&] {
      stop.request_stop();
      for (std::size_t i = threads.size(); i < count; ++i) meeting.arrive_and_drop();
      go.count_down();
    };
    const auto start = [&](std::size_t i) {
      threads.emplace_back([&, i] {
        ThreadRun& run = runs[i];
        ready.count_down();
        go.wait();
        run.start_ns = now_ns();
        run.complete = run_thread(*trace.threads[i], *run.engine, meeting,
                                  static_cast<std::uint32_t>(i), options);
        run.end_ns = now_ns();
        if (!run.complete) stop.request_stop();
        meeting.arrive_and_drop();  // nobody waits for this thread any more
      });
    };
    try {
      for (std::size_t i = 0; i < count; ++i) start(i);
    } catch (const std::exception& error) {
      give_up();
      throw Error(ErrorKind::failed, fmt::format("cannot start {} threads: {}; use fewer --threads",
                                                 count, error.what()));
    }
    ready.wait();
    before = cpu_used();
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
  outcome.elapsed_s = static_cast<double>(end - start) * 1e-9;
  outcome.cpu_user_s = after.user_s - before.user_s;
  outcome.cpu_system_s = after.system_s - before.system_s;
  return outcome;
}

}  // namespace filereel
