// Replays that end because their time is up, and what is not counted before.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "replay/engine/replayer.h"
#include "replay/measure/clock.h"
#include "tests/entries.h"
#include "tests/replay/hand_trace.h"
#include "tests/replay/two_volumes.h"
#include "traces/operation_stream.h"

namespace filereel {
namespace {

using enum OperationKind;

constexpr std::uint64_t kMs = 1'000'000;

// Gives `begin` once, `again` for ever, and `end` when time is up.
class EndlessSource final : public OperationSource {
 public:
  EndlessSource(std::vector<Operation> begin, std::vector<Operation> again,
                std::vector<Operation> end)
      : now_(std::move(begin)), again_(std::move(again)), end_(std::move(end)) {}

  std::size_t next(std::span<Operation> out) override {
    std::size_t filled = 0;
    for (; filled < out.size(); ++filled) {
      if (at_ == now_.size()) {
        if (ending_ || again_.empty()) break;
        at_ = 0;
        now_ = again_;
        ++round_;
      }
      out[filled] = now_[at_++];
      if (out[filled].kind == pace && out[filled].flags == pace_flags::kFromStart) {
        out[filled].offset *= std::max<std::uint64_t>(round_, 1);
      }
    }
    return filled;
  }
  void wind_up() noexcept override {
    ending_ = true;
    at_ = 0;
    now_ = std::move(end_);
  }

 private:
  std::vector<Operation> now_, again_, end_;
  std::size_t at_ = 0;
  std::uint64_t round_ = 0;
  bool ending_ = false;
};

struct TimedTrace {
  TwoVolumes volumes;
  PathTable paths;
  FileSet files = set_of({file("f", 1 << 20)});
  Trace trace = trace_of(paths, files, {});

  Operation open(const char* path = "f", int flags = O_RDWR | O_CREAT) {
    return open_file(paths.add(Role::near, path), 0, flags, 0644);
  }
  static Operation use(OperationKind kind) { return of_file(kind, 0); }
  static Operation transfer(OperationKind kind, std::uint64_t offset = 0,
                            std::uint64_t length = 4096) {
    Operation op = data(kind, 0, offset, length);
    op.entry = 0;
    return op;
  }
  static Operation due(std::uint64_t after_ns, std::uint32_t from) {
    Operation op;
    op.kind = pace;
    op.offset = after_ns;
    op.flags = from;
    return op;
  }
  void add(std::vector<Operation> begin, std::vector<Operation> again, std::vector<Operation> end) {
    trace.threads.push_back(
        std::make_unique<EndlessSource>(std::move(begin), std::move(again), std::move(end)));
  }
  ReplayOutcome run(const ReplayOptions& options) {
    return replay(std::move(trace), volumes.roots(), options);
  }
};

std::uint64_t count(const ReplayOutcome& outcome, OperationKind kind) {
  return outcome.statistics.of(kind).count();
}

std::vector<EngineKind> engines() {
  std::vector<EngineKind> result = {EngineKind::blocking, EngineKind::null};
  if (!uring_unavailable_reason()) result.push_back(EngineKind::uring);
  return result;
}

TEST_CASE("when time is up, only the source's remaining operations are executed and counted") {
  for (const EngineKind engine : engines()) {
    CAPTURE(engine_name(engine));
    TimedTrace workload;
    const Operation rewrite = TimedTrace::transfer(write);
    for (int thread = 0; thread < 3; ++thread) {
      workload.add({workload.open()}, {rewrite}, {TimedTrace::use(sync), TimedTrace::use(close)});
    }
    workload.trace.depths = {1, 4, 64};
    workload.trace.overlapping = true;
    const std::uint64_t before = now_ns();
    const ReplayOutcome outcome = workload.run({.engine = engine, .run_for_ns = 60 * kMs});
    const double took = static_cast<double>(now_ns() - before) * 1e-9;
    CHECK(outcome.complete);
    CHECK(outcome.statistics.divergences == 0);
    CHECK(outcome.elapsed_s >= 0.05);  // threads may begin late
    CHECK(outcome.elapsed_s <= took);
    CHECK(took < 60);
    CHECK(count(outcome, open) == 3);
    CHECK(count(outcome, write) > 3);
    CHECK(count(outcome, sync) == 3);
    CHECK(count(outcome, close) == 3);
    const std::uint64_t operations = outcome.statistics.operations;
    CHECK(operations == count(outcome, write) + 9);
  }
}

TEST_CASE("a source that winds up need not know its open files") {
  for (int i = 0; i < 20; ++i) {
    TimedTrace workload;
    std::vector<Operation> cycle = {workload.open(), TimedTrace::transfer(write),
                                    TimedTrace::use(close)};
    workload.add({}, cycle,
                 {TimedTrace::use(sync), TimedTrace::use(close), TimedTrace::use(close)});
    const ReplayOutcome outcome = workload.run({.run_for_ns = 2 * kMs});
    CHECK(outcome.complete);
    CHECK(outcome.statistics.divergences == 0);
    CHECK(count(outcome, close) == count(outcome, open));
  }
}

TEST_CASE("no thread sleeps or waits for others when time is up") {
  for (const EngineKind engine : engines()) {
    CAPTURE(engine_name(engine));
    constexpr std::uint64_t kHour = 3600'000 * kMs;
    TimedTrace workload;
    const Operation meeting;
    workload.add({workload.open(), TimedTrace::due(kHour, pace_flags::kFromStart)}, {meeting},
                 {TimedTrace::due(kHour, pace_flags::kFromNow), TimedTrace::use(close)});
    workload.add({meeting}, {meeting}, {});
    workload.add({TimedTrace::due(kHour, pace_flags::kFromLastEnd)}, {meeting}, {});
    const ReplayOutcome outcome = workload.run({.engine = engine, .run_for_ns = 20 * kMs});
    CHECK(outcome.complete);
    CHECK(outcome.elapsed_s < 60);
    CHECK(count(outcome, close) == 1);
    CHECK(outcome.statistics.lateness.count() == 0);
  }
}

TEST_CASE(
    "the latency of a late operation counts from its due time, and its service time is separate") {
  for (const EngineKind engine : engines()) {
    CAPTURE(engine_name(engine));
    TimedTrace workload;
    // The second write is due 49 ms before the first one is.
    workload.add({workload.open(), TimedTrace::due(50 * kMs, pace_flags::kFromStart),
                  TimedTrace::transfer(write), TimedTrace::due(kMs, pace_flags::kFromStart),
                  TimedTrace::transfer(write, 4096), TimedTrace::use(close)},
                 {}, {});
    workload.trace.depths = {2};
    const ReplayOutcome outcome = workload.run({.engine = engine});
    REQUIRE(outcome.complete);
    const KindStatistics& writes = outcome.statistics.of(write);
    CHECK(writes.latency().max() >= 49 * kMs);
    CHECK(writes.latency().total() - writes.service.total() >= 49 * kMs);
    CHECK(writes.service.count() == 2);
    const auto& slowest = outcome.statistics.slowest.operations();
    const auto late = std::ranges::max_element(slowest, {}, &SlowOperation::latency_ns);
    CHECK(late->offset == 4096);
    CHECK(late->latency_ns >= late->service_ns + 49 * kMs);
  }
}

TEST_CASE("a pause after the last operation makes no operation late") {
  TimedTrace workload;
  workload.add({workload.open(), TimedTrace::due(20 * kMs, pace_flags::kFromLastEnd),
                TimedTrace::transfer(write), TimedTrace::use(close)},
               {}, {});
  const ReplayOutcome outcome = workload.run({.engine = EngineKind::null});
  const KindStatistics& writes = outcome.statistics.of(write);
  CHECK(writes.latency().total() == writes.service.total());
}

TEST_CASE("operations of the warm-up are not counted") {
  for (const EngineKind engine : engines()) {
    CAPTURE(engine_name(engine));
    TimedTrace workload;
    // One write each millisecond of the replay: 100 in the warm-up, 200 after it.
    const std::vector<Operation> each = {TimedTrace::due(kMs, pace_flags::kFromStart),
                                         TimedTrace::transfer(write)};
    workload.add({workload.open()}, each, {TimedTrace::use(close)});
    workload.trace.depths = {4};
    ReplayProgress progress;
    int begun = 0;
    std::uint64_t begun_ns = 0;
    const std::uint64_t before = now_ns();
    const ReplayOutcome outcome = workload.run({.engine = engine,
                                                .progress = &progress,
                                                .warm_up_ns = 100 * kMs,
                                                .run_for_ns = 200 * kMs,
                                                .on_measured_start = [&] {
                                                  ++begun;
                                                  begun_ns = now_ns();
                                                }});
    CHECK(outcome.complete);
    CHECK(begun == 1);
    CHECK(begun_ns >= before + 99 * kMs);  // clocks of sleeps and of the stopwatch may differ
    CHECK(count(outcome, open) == 0);
    CHECK(count(outcome, close) == 1);
    CHECK(count(outcome, write) > 120);
    CHECK(count(outcome, write) < 250);
    CHECK(outcome.statistics.lateness.count() < 250);
    CHECK(outcome.statistics.of(write).bytes == count(outcome, write) * 4096);
    CHECK(progress.look().bytes == count(outcome, write) * 4096);
    const ReplayTimes times = progress.times();
    CHECK(times.start_ns >= before);
    CHECK(times.measured_ns == times.start_ns + 100 * kMs);
    CHECK(times.end_ns >= times.measured_ns + 200 * kMs);
    CHECK(times.durable_ns == 0);
    CHECK(outcome.elapsed_s >= 0.2);
    const TimeGrid& grid = outcome.statistics.grid;
    CHECK(grid.intervals().size() * grid.width_ns() <
          static_cast<std::uint64_t>(outcome.elapsed_s * 1e9) + 2 * grid.width_ns());
    std::uint64_t in_grid = 0;
    for (const TimeGrid::Interval& interval : grid.intervals()) {
      for (const std::uint64_t count : interval.operations) in_grid += count;
    }
    CHECK(in_grid == outcome.statistics.operations);
  }
}

TEST_CASE("a warm-up without a limit measures until the sources end") {
  TimedTrace workload;
  std::vector<Operation> all = {workload.open(), TimedTrace::due(30 * kMs, pace_flags::kFromNow)};
  all.insert(all.end(), 500, TimedTrace::transfer(write));
  workload.add(all, {}, {});
  const ReplayOutcome outcome = workload.run({.warm_up_ns = 10 * kMs});
  CHECK(outcome.complete);
  CHECK(count(outcome, open) == 0);
  CHECK(count(outcome, write) == 500);
}

TEST_CASE("sources that end in the warm-up measure nothing, and do not wait for its end") {
  TimedTrace workload;
  workload.add({workload.open(), TimedTrace::transfer(write)}, {}, {});
  int begun = 0;
  const ReplayOutcome outcome =
      workload.run({.warm_up_ns = 3600'000 * kMs, .on_measured_start = [&begun] { ++begun; }});
  CHECK(outcome.complete);
  CHECK(outcome.statistics.operations == 0);
  CHECK(outcome.elapsed_s == 0);
  CHECK(begun == 1);
}

TEST_CASE("divergences in the warm-up are kept") {
  for (const bool stop : {true, false}) {
    CAPTURE(stop);
    TimedTrace workload;
    const Operation rewrite = TimedTrace::transfer(write);
    workload.add({workload.open("missing", O_RDONLY), workload.open()}, {rewrite}, {});
    const ReplayOutcome outcome =
        workload.run({.stop_on_divergence = stop, .warm_up_ns = 20 * kMs, .run_for_ns = 10 * kMs});
    CHECK(outcome.complete == !stop);
    REQUIRE(outcome.statistics.examples.size() == 1);
    CHECK(outcome.statistics.examples[0].result == -ENOENT);
  }
}

TEST_CASE("a stop ends an endless replay at once, also in its warm-up") {
  for (const EngineKind engine : engines()) {
    CAPTURE(engine_name(engine));
    TimedTrace workload;
    std::stop_source stop;
    workload.add({workload.open()}, {TimedTrace::transfer(write)}, {TimedTrace::use(close)});
    workload.trace.depths = {16};
    std::jthread stopper([&stop] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      stop.request_stop();
    });
    const ReplayOutcome outcome =
        workload.run({.engine = engine, .stop = stop.get_token(), .warm_up_ns = 3600'000 * kMs});
    CHECK_FALSE(outcome.complete);
  }
}

TEST_CASE("a failure of the caller's counters ends the replay") {
  for (const std::uint64_t warm_up_ns : {0UL, 5 * kMs}) {
    TimedTrace workload;
    workload.add({workload.open()}, {TimedTrace::transfer(write)}, {});
    CHECK_THROWS_AS(workload.run({.warm_up_ns = warm_up_ns,
                                  .on_measured_start = [] { throw std::runtime_error("no"); }}),
                    std::runtime_error);
  }
}

TEST_CASE("the lanes of a schedule end when time is up, even while waiting for one another") {
  HandTrace trace;
  trace.open(0, 1, "f", 7, O_RDWR | O_CREAT);
  trace.on(0, write, 1, 7, 0, 4096);
  trace.on(1, read, 1, 7, 0, 4096);  // waits for the write
  trace.close(1, 1, 7);
  for (std::size_t i = 0; i < trace.source.operations.size(); ++i) {
    trace.source.operations[i].start_ns = i * 3600'000 * kMs;
  }
  trace.finish();
  trace.info.timed = true;
  Schedule schedule(trace.source, trace.tables, trace.info,
                    {.pace = {.kind = Pace::Kind::natural}});
  const TwoVolumes volumes;
  const ReplayOutcome outcome = replay(schedule.trace(), volumes.roots(),
                                       {.board = &schedule.board(), .run_for_ns = 30 * kMs});
  schedule.check();
  CHECK(outcome.complete);
  CHECK(outcome.elapsed_s < 60);
  CHECK(outcome.statistics.operations == 1);
}

}  // namespace
}  // namespace filereel
