#include "replay/engine/replayer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/limits.h"
#include "filesets/system/privileges.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/engine/engine_calls.h"
#include "replay/engine/lane.h"
#include "replay/engine/parent_cache.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

constexpr std::uint64_t kFewestDirectories = ParentCache<LinuxCalls>::kFewest;
// More would need much memory of the kernel: about 1 KB each. The second is for all threads.
constexpr std::uint64_t kMostDirectories = 4096, kMostTogether = 16384;

std::uint64_t raise_limit_to(std::uint64_t wanted) noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit raised{.rlim_cur = std::clamp(wanted, limit.rlim_cur, limit.rlim_max),
                      .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

// The kernel enlarges its table of descriptors when one is opened, and waits until no processor
// uses the old table: milliseconds, which would be in the latency of some operation. The table
// never shrinks.
void enlarge_table(std::uint64_t descriptors) {
  const Descriptor any(::open("/", O_PATH | O_CLOEXEC));
  if (!any) return;
  const Descriptor last(::fcntl(any.get(), F_DUPFD_CLOEXEC, static_cast<int>(descriptors) - 1));
}

}  // namespace

std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads) {
  // Of a thread: the ring of io_uring, the directory of a second path, files open during a call.
  constexpr std::uint64_t kOthers = 4;
  constexpr std::uint64_t kSpare = 8;  // files that filereel opens during a replay
  return open_files + threads * (kFewestDirectories + kOthers) + open_descriptors() + kSpare;
}

std::uint64_t highest_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

std::uint64_t raise_descriptor_limit() noexcept {
  return raise_limit_to(highest_descriptor_limit());
}

std::size_t allow_descriptors(std::uint64_t open_files, std::size_t threads) {
  const std::uint64_t count = std::max<std::size_t>(threads, 1);
  const std::uint64_t most =
      std::clamp(kMostTogether / count, kFewestDirectories, kMostDirectories);
  const std::uint64_t needed = descriptors_needed(open_files, threads);
  const std::uint64_t wanted = needed + count * (most - kFewestDirectories);
  const std::uint64_t limit = raise_limit_to(wanted);
  if (limit < needed) {
    throw Error(ErrorKind::failed,
                fmt::format("the trace has {} open at once in {} and needs an open-file limit of "
                            "{}, but the limit is {}: raise it ({}) or cut the trace",
                            counted(open_files, "file"), counted(threads, "thread"), needed, limit,
                            root_advice("ulimit -n, or as root ulimit -Hn", "ulimit -n")));
  }
  enlarge_table(std::min(limit, wanted));
  return std::min(most, kFewestDirectories + (limit - needed) / count);
}

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

// Operations have the final modes of files, so the umask must not apply again.
class NoUmask {
 public:
  NoUmask() : before_(umask(0)) {}
  ~NoUmask() { umask(before_); }
  NoUmask(const NoUmask&) = delete;
  NoUmask& operator=(const NoUmask&) = delete;

 private:
  mode_t before_;
};

// Stops all threads of a replay, after a failure of one thread or on request.
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
  std::stop_callback<std::function<void()>> forward_;  // last: may be called immediately
};

// One thread of the replay. Only the thread itself writes the times; they are read after it has
// ended.
struct ThreadRun {
  std::unique_ptr<IoEngine> engine;
  std::span<const OpenFile> open_files;
  std::uint64_t start_ns = 0, end_ns = 0, cpu_ns = 0;
  bool complete = false;
};

// The state of a replay. All threads have started (`ready`) before any executes (`go`).
struct ReplayRun {
  ReplayRun(const Trace& replayed, const ReplayOptions& wanted)
      : trace(replayed),
        options(wanted),
        stop(wanted),
        meeting(static_cast<std::ptrdiff_t>(replayed.threads.size())),
        ready(static_cast<std::ptrdiff_t>(replayed.threads.size())),
        threads(replayed.threads.size()),
        open_files(replayed.shared_slots ? replayed.slots : replayed.slots * threads.size()),
        mappings(replayed.mappings),
        running(threads.size()) {}

  void fail(std::exception_ptr error) {
    const std::scoped_lock lock(failing);
    if (!failure) failure = std::move(error);
  }

  const Trace& trace;
  const ReplayOptions& options;
  Stop stop;
  std::barrier<> meeting;
  std::latch ready;
  std::latch go{1};
  std::vector<ThreadRun> threads;
  std::vector<OpenFile> open_files;
  std::vector<Mapping> mappings;
  DirectoryChanges directories;
  std::uint64_t start_ns = 0;
  std::atomic<std::size_t> running;
  std::mutex failing;
  std::exception_ptr failure;  // the first of a thread; read when all have ended
  std::binary_semaphore all_ended{0};
};

// Buffers are touched before the clock starts. If they exceeded memory, the kernel would kill other
// programs.
void check_memory(const Trace& trace) {
  if (!trace.files) return;  // buffer_size bounds those of recorded traces
  std::uint64_t requests = trace.threads.size();
  for (const std::uint32_t depth : trace.depths) requests += std::max(depth, 1U) - 1;
  const MemoryLimit limit = memory_limit();
  const std::uint64_t memory = limit.is_machine ? limit.bytes : limit.left;
  if (requests == 0 || trace.largest_io <= memory / requests) return;
  throw Error(ErrorKind::failed,
              fmt::format("{} in flight with buffers of {} each would exceed the {} of memory: "
                          "use smaller blocks, fewer threads or a smaller queue depth{}",
                          counted(requests, "request"), format_size(trace.largest_io),
                          format_size(memory), limit.is_machine ? "" : "; " + limit.text()));
}

// Engines take their memory before the clock starts. Their number is checked against what the first
// ones took and what was left before: otherwise the kernel would kill filereel without a word.
struct MemoryGrowth {
  MemoryLimit limit = memory_limit();
  std::uint64_t resident = resident_memory();

  void check(std::size_t made, std::size_t count) const {
    constexpr std::size_t kFirst = 8;
    constexpr std::uint64_t kOfThread = 64 << 10;  // its stack, and its memory in the kernel
    if (made < kFirst || !std::has_single_bit(made)) return;
    const std::uint64_t now = resident_memory();
    const std::uint64_t needed = ((now - std::min(now, resident)) / made + kOfThread) * count;
    if (needed <= limit.left) return;
    throw Error(ErrorKind::failed,
                fmt::format("{} about {} of memory and {} is left: {}, or use fewer threads",
                            counted(count, "thread needs", "threads need"), format_size(needed),
                            format_size(limit.left), limit.text()));
  }
};

// The roots of the volumes of a thread's paths.
std::array<int, kRoots> roots_of(const Trace& trace, std::size_t thread,
                                 const std::array<int, kRoles>& roots) {
  if (trace.volumes.empty()) return {roots[0], roots[1]};
  return {roots[static_cast<std::size_t>(trace.volumes[thread])], -1};
}

EngineContext context_of(ReplayRun& run) {
  return {.paths = run.trace.paths,
          .texts = run.trace.texts,
          .files = run.trace.files,
          .content_seed = run.trace.content_seed,
          .holes = run.trace.holes,
          .open_files = run.open_files,
          .mappings = run.mappings,
          .largest_io = run.trace.largest_io,
          .kinds = run.trace.kinds,
          .verify = run.options.verify,
          .queue_depth = run.options.queue_depth,
          .overlapping = run.trace.overlapping,
          .poll = run.options.poll,
          .change_owners = run.options.change_owners,
          .board = run.options.board,
          .judge = run.options.judge,
          .directories = &run.directories,
          .stop = run.stop.token()};
}

void make_engines(ReplayRun& run, const std::array<int, kRoles>& roots) {
  const Trace& trace = run.trace;
  const std::size_t count = run.threads.size();
  EngineContext context = context_of(run);
  const MemoryGrowth growth;
  context.buffer_memory = std::min(context.buffer_memory, growth.limit.left / 8);
  if (run.options.engine != EngineKind::null) {
    context.kept_directories = allow_descriptors(run.open_files.size(), count);
    context.opening_ns = opening_ns<LinuxCalls>(*std::ranges::max_element(roots));
  }
  if (run.options.latencies) run.options.latencies->assign(count, {});
  for (std::size_t i = 0; i < count; ++i) {
    if (!trace.shared_slots) {
      context.open_files = std::span(run.open_files).subspan(i * trace.slots, trace.slots);
    }
    context.roots = roots_of(trace, i, roots);
    ThreadRun& thread = run.threads[i];
    thread.open_files = context.open_files;
    if (run.options.latencies) context.latencies = &(*run.options.latencies)[i];
    if (!trace.depths.empty()) context.queue_depth = std::max(trace.depths[i], 1U);
    try {
      thread.engine = make_engine(run.options.engine, context, static_cast<std::uint32_t>(i));
      thread.engine->statistics().prepare(trace.kinds, trace.largest_io);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::failed,
                  fmt::format("not enough memory for {} with buffers of {} each; {}",
                              counted(count, "thread"), format_size(trace.largest_io),
                              memory_limit().text()));
    }
    growth.check(i + 1, count);
  }
}

// Runs on the thread itself.
void execute(ReplayRun& run, const SharedReplay& shared, std::size_t number) {
  ThreadRun& thread = run.threads[number];
  thread.engine->begin();
  run.ready.count_down();
  run.go.wait();
  const std::uint64_t cpu_before = thread_cpu_ns();
  thread.start_ns = now_ns();
  Lane lane(shared, *run.trace.threads[number], *thread.engine, thread.open_files,
            static_cast<std::uint32_t>(number));
  try {
    thread.complete = lane.run();
  } catch (...) {  // such as memory for a source
    run.fail(std::current_exception());
  }
  thread.end_ns = lane.end_of_work(now_ns());
  thread.cpu_ns = thread_cpu_ns() - cpu_before;
  thread.engine->end();
  if (!thread.complete) run.stop.request();
  run.meeting.arrive_and_drop();  // no thread waits for this one any more
  if (--run.running == 0) run.all_ended.release();
}

std::vector<std::jthread> start_threads(ReplayRun& run, const SharedReplay& shared) {
  const std::size_t count = run.threads.size();
  std::vector<std::jthread> threads;
  try {
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&run, &shared, i] { execute(run, shared, i); });
    }
  } catch (const std::system_error& error) {
    // Threads already started must not wait for those that never start.
    run.stop.request();
    for (std::size_t i = threads.size(); i < count; ++i) run.meeting.arrive_and_drop();
    run.go.count_down();
    throw Error(ErrorKind::failed,
                fmt::format("cannot start {}: {}, or use fewer threads", counted(count, "thread"),
                            start_error_text(error.code().value(), "")));
  }
  return threads;
}

// Returns the processor time used so far.
Cpu begin_measuring(ReplayRun& run) {
  try {
    if (run.options.on_measured_start) run.options.on_measured_start();
  } catch (...) {
    run.stop.request();
    throw;
  }
  return cpu_used();
}

// Releases the threads. Returns the processor time used before the measured time.
Cpu release_threads(ReplayRun& run) {
  const std::chrono::nanoseconds warm_up(run.options.warm_up_ns);
  Cpu before{};
  run.ready.wait();
  const auto begin = [&] {
    if (warm_up.count() == 0) before = begin_measuring(run);
  };
  try {
    run.options.gate ? run.options.gate(begin) : begin();
  } catch (...) {
    run.stop.request();
    run.go.count_down();
    throw;
  }
  run.start_ns = now_ns();
  if (run.options.progress) run.options.progress->start(run.start_ns, run.options.warm_up_ns);
  run.go.count_down();
  if (warm_up.count() == 0) return before;
  // Waits at most until all have ended: then nothing is measured.
  if (!run.threads.empty()) (void)run.all_ended.try_acquire_for(warm_up);
  return begin_measuring(run);
}

// Exposes the threads' statistics to the progress display.
class PublishedProgress {
 public:
  explicit PublishedProgress(const ReplayRun& run) : progress_(run.options.progress) {
    if (!progress_) return;
    std::vector<const ReplayStatistics*> threads;
    for (const ThreadRun& thread : run.threads) threads.push_back(&thread.engine->statistics());
    progress_->begin(std::move(threads));
  }
  PublishedProgress(const PublishedProgress&) = delete;
  PublishedProgress& operator=(const PublishedProgress&) = delete;
  ~PublishedProgress() {
    if (progress_) progress_->end();
  }

 private:
  ReplayProgress* progress_;
};

// The outcome of the threads whose number satisfies `is_it`.
ReplayOutcome sum_of(const ReplayRun& run, const SharedReplay& shared, const auto& is_it) {
  ReplayOutcome outcome;
  outcome.complete = true;
  std::uint64_t start = UINT64_MAX, end = run.start_ns;  // of the operations
  for (std::size_t i = 0; i < run.threads.size(); ++i) {
    if (!is_it(i)) continue;
    const ThreadRun& thread = run.threads[i];
    start = std::min(start, thread.start_ns);
    end = std::max(end, thread.end_ns);
    outcome.statistics.merge(thread.engine->statistics());
    outcome.threads_cpu_s += static_cast<double>(thread.cpu_ns) * 1e-9;
    outcome.complete = outcome.complete && thread.complete;
  }
  if (run.options.warm_up_ns > 0) start = shared.measured_start_ns();
  if (start < end) outcome.elapsed_s = static_cast<double>(end - start) * 1e-9;
  outcome.end_ns = end;
  return outcome;
}

std::vector<ReplayOutcome> sums_by_volume(const ReplayRun& run, const SharedReplay& shared) {
  const std::vector<Role>& volumes = run.trace.volumes;
  if (volumes.empty()) return {};
  const auto last = static_cast<std::size_t>(*std::ranges::max_element(volumes));
  std::vector<ReplayOutcome> sums;
  for (std::size_t role = 0; role <= last; ++role) {
    sums.push_back(sum_of(run, shared, [&](std::size_t thread) {
      return volumes[thread] == static_cast<Role>(role);
    }));
  }
  return sums;
}

ReplayOutcome outcome_of(const ReplayRun& run, const SharedReplay& shared, Cpu before, Cpu after) {
  ReplayOutcome outcome = sum_of(run, shared, [](std::size_t) { return true; });
  outcome.by_volume = sums_by_volume(run, shared);
  outcome.cpu_user_s = after.user_s - before.user_s;
  outcome.cpu_system_s = after.system_s - before.system_s;
  return outcome;
}

}  // namespace

void check_resources(const Trace& trace, EngineKind engine) {
  check_memory(trace);
  if (engine == EngineKind::null) return;
  const std::size_t threads = trace.threads.size();
  allow_descriptors(trace.shared_slots ? trace.slots : trace.slots * threads, threads);
}

ReplayOutcome replay(Trace trace, const std::array<int, kRoles>& roots,
                     const ReplayOptions& options) {
  check_resources(trace, options.engine);
  ReplayRun run(trace, options);
  make_engines(run, roots);
  const SharedReplay shared{.options = options,
                            .meeting = run.meeting,
                            .stop = run.stop.token(),
                            .start_ns = run.start_ns,
                            .queues = !trace.depths.empty(),
                            .paced = trace.kinds[static_cast<std::size_t>(OperationKind::pace)]};
  const PublishedProgress published(run);
  Cpu before{};
  {
    const NoUmask modes_as_they_are;
    const std::vector<std::jthread> threads = start_threads(run, shared);
    before = release_threads(run);
  }  // joins the threads
  if (run.failure) std::rethrow_exception(run.failure);
  return outcome_of(run, shared, before, cpu_used());
}

}  // namespace filereel
