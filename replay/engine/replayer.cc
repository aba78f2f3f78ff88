#include "replay/engine/replayer.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <latch>
#include <new>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/engine/descriptor_limit.h"
#include "replay/engine/lane.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

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
  std::span<const OpenFile> open_files;
  std::uint64_t start_ns = 0, end_ns = 0, cpu_ns = 0;
  bool complete = false;
};

// Operations carry the modes that files got: nothing must be taken off them a second time.
class NoUmask {
 public:
  NoUmask() : before_(umask(0)) {}
  ~NoUmask() { umask(before_); }
  NoUmask(const NoUmask&) = delete;
  NoUmask& operator=(const NoUmask&) = delete;

 private:
  mode_t before_;
};

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

// Buffers are touched before the clock starts: more of them than there is memory would end other
// programs and not this one.
void check_memory(const Trace& trace) {
  if (!trace.files) return;  // buffer_size bounds those of recorded traces
  std::uint64_t requests = trace.threads.size();
  for (const std::uint32_t depth : trace.depths) requests += std::max(depth, 1U) - 1;
  const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (requests == 0 || trace.largest_io <= memory / requests) return;
  throw Error(ErrorKind::failed,
              fmt::format("{} requests in flight with buffers of {} each need more than the {} of "
                          "memory that there is: use smaller blocks, fewer threads or less depth",
                          requests, format_size(trace.largest_io), format_size(memory)));
}

}  // namespace

ReplayOutcome replay(Trace trace, const std::array<int, kRoles>& roots,
                     const ReplayOptions& options) {
  const std::size_t count = trace.threads.size();
  check_memory(trace);
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
                        .overlapping = trace.overlapping,
                        .poll = options.poll,
                        .change_owners = options.change_owners,
                        .board = options.board,
                        .judge = options.judge,
                        .directories = &directories,
                        .stop = stop.token()};
  for (std::size_t i = 0; i < count; ++i) {
    if (!trace.shared_slots) {
      context.open_files = std::span(open_files).subspan(i * trace.slots, trace.slots);
    }
    runs[i].open_files = context.open_files;
    if (!trace.depths.empty()) context.queue_depth = std::max(trace.depths[i], 1U);
    try {
      runs[i].engine = make_engine(options.engine, context, static_cast<std::uint32_t>(i));
      runs[i].engine->statistics().prepare(trace.kinds);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::failed,
                  fmt::format("not enough memory for {} threads with buffers of {} each", count,
                              format_size(trace.largest_io)));
    }
  }
  const SharedReplay shared{.options = options,
                            .meeting = meeting,
                            .stop = stop.token(),
                            .start_ns = start_ns,
                            .queues = !trace.depths.empty(),
                            .paced = trace.kinds[static_cast<std::size_t>(OperationKind::pace)]};
  std::atomic<std::size_t> running = count;
  std::binary_semaphore all_ended(0);
  Cpu before{}, after{};
  {
    const NoUmask modes_as_they_are;
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
        run.engine->begin();
        ready.count_down();
        go.wait();
        const std::uint64_t cpu_before = thread_cpu_ns();
        run.start_ns = now_ns();
        Lane lane(shared, *trace.threads[i], *run.engine, run.open_files,
                  static_cast<std::uint32_t>(i));
        run.complete = lane.run();
        run.end_ns = now_ns();
        run.cpu_ns = thread_cpu_ns() - cpu_before;
        run.engine->end();
        if (!run.complete) stop.request();
        meeting.arrive_and_drop();  // nobody waits for this thread any more
        if (--running == 0) all_ended.release();
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
    bool started = false;
    const auto begin_measuring = [&] {
      try {
        if (options.on_measured_start) options.on_measured_start();
      } catch (...) {
        stop.request();
        if (!started) go.count_down();
        throw;
      }
      before = cpu_used();
    };
    if (options.warm_up_ns == 0) begin_measuring();
    start_ns = now_ns();
    started = true;
    go.count_down();
    if (options.warm_up_ns > 0) {
      // Not before all have ended: then nothing is measured.
      if (count > 0) (void)all_ended.try_acquire_for(std::chrono::nanoseconds(options.warm_up_ns));
      begin_measuring();
    }
  }
  after = cpu_used();

  ReplayOutcome outcome;
  outcome.complete = true;
  std::uint64_t start = UINT64_MAX, end = start_ns;  // of the operations
  for (const ThreadRun& run : runs) {
    start = std::min(start, run.start_ns);
    end = std::max(end, run.end_ns);
    outcome.statistics.merge(run.engine->statistics());
    outcome.threads_cpu_s += static_cast<double>(run.cpu_ns) * 1e-9;
    outcome.complete = outcome.complete && run.complete;
  }
  if (options.warm_up_ns > 0) start = shared.measured_start_ns();
  if (start < end) outcome.elapsed_s = static_cast<double>(end - start) * 1e-9;
  outcome.end_ns = end;
  outcome.cpu_user_s = after.user_s - before.user_s;
  outcome.cpu_system_s = after.system_s - before.system_s;
  return outcome;
}

}  // namespace filereel
