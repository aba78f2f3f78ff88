#include "replay/schedule/schedule.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>

#include "filesets/system/error.h"
#include "replay/engine/replayer.h"
#include "replay/schedule/feeder.h"
#include "tests/replay/hand_trace.h"
#include "tests/replay/two_volumes.h"

namespace filereel {
namespace {

using enum OperationKind;

TraceThread living(std::uint64_t first, std::uint64_t last) {
  TraceThread thread;
  thread.operations = 1;
  thread.first = first;
  thread.last = last;
  return thread;
}

TEST_CASE("threads that do not overlap share a lane") {
  const std::vector<TraceThread> threads = {living(0, 9),  living(2, 3),  living(4, 7),
                                            TraceThread(), living(8, 20), living(10, 11)};
  const Lanes lanes = assign_lanes(threads);
  CHECK(lanes.count == 2);
  CHECK(lanes.of_thread[0] != lanes.of_thread[1]);
  CHECK(lanes.of_thread[1] == lanes.of_thread[2]);
  CHECK(lanes.of_thread[2] == lanes.of_thread[4]);
  CHECK(lanes.of_thread[5] == lanes.of_thread[0]);
  CHECK(assign_lanes({}).count == 1);
}

TEST_CASE("a thousand processes one after another are one lane") {
  HandTrace trace;
  for (std::uint32_t i = 0; i < 1000; ++i) trace.add(i, make_directory, std::to_string(i));
  const CompiledLanes lanes = compile(trace);
  REQUIRE(lanes.lanes.size() == 1);
  CHECK(lanes.lanes[0].size() == 1000);
  CHECK(lanes.awaits == 0);
}

TEST_CASE("a lane holds its threads' operations in their order, all of them") {
  HandTrace trace;
  std::minstd_rand random(3);
  for (int i = 0; i < 5000; ++i)
    trace.add(static_cast<std::uint32_t>(random() % 5), make_directory, std::to_string(i % 100));
  const CompiledLanes lanes = compile(trace);
  std::size_t calls = 0;
  for (const std::vector<Operation>& lane : lanes.lanes) {
    std::uint64_t last = 0;
    for (const Operation& op : lane) {
      CHECK(op.position >= last);
      last = op.position;
      if (op.kind != await) ++calls;
    }
  }
  CHECK(calls == 5000);
}

TEST_CASE("the trace of a schedule has the information for the engines") {
  HandTrace trace;
  trace.open(0, 3, "f", 0);
  trace.on(0, read, 3, 0, 0, 70'000);
  trace.close(0, 3, 0);
  trace.finish();
  Schedule schedule(trace.source, trace.tables, trace.info, {.pace = parse_pace("natural")});
  const Trace made = schedule.trace();
  CHECK(made.paths == &trace.tables.paths);
  CHECK(made.texts == &trace.tables.texts);
  CHECK(made.files == nullptr);
  CHECK(made.shared_slots);
  CHECK(made.slots == 4);
  CHECK(made.largest_io == 70'000);
  CHECK(made.kinds[static_cast<std::size_t>(read)]);
  CHECK(made.kinds[static_cast<std::size_t>(pace)]);
  CHECK_FALSE(made.kinds[static_cast<std::size_t>(write)]);
  CHECK(schedule.waits() == 0);
  CHECK(schedule.board().size() == 1);
}

// Threads that all work on the same names, in an order that only waiting can keep.
void tangle(HandTrace& trace, std::uint32_t threads, std::uint32_t operations) {
  std::minstd_rand random(5);
  for (std::uint32_t i = 0; i < operations; ++i) {
    trace.add(static_cast<std::uint32_t>(random() % threads),
              i % 2 == 0 ? make_directory : remove_directory, std::to_string(i / 2 % 7));
  }
  trace.finish();
}

ReplayOutcome replay_null(HandTrace& trace, const ScheduleOptions& options) {
  Schedule schedule(trace.source, trace.tables, trace.info, options);
  ReplayOutcome outcome =
      replay(schedule.trace(), {0, 0}, {.engine = EngineKind::null, .board = &schedule.board()});
  schedule.check();
  return outcome;
}

TEST_CASE("a trace of many windows completes, in every order") {
  for (const Order order : {Order::strict, Order::resource, Order::thread}) {
    for (const std::size_t window : {1U, 64U, 1000U}) {
      HandTrace trace;
      tangle(trace, 6, 20'000);
      const ReplayOutcome outcome = replay_null(trace, {.order = order, .window = window});
      CHECK(outcome.complete);
      CHECK(outcome.statistics.operations == 20'000);
    }
  }
}

TEST_CASE("idle lanes do not hold up the others") {
  HandTrace trace;
  for (std::uint32_t i = 0; i < 5; ++i) trace.add(i, make_directory, "a");
  for (int i = 0; i < 20'000; ++i) trace.add(0, make_directory, "b");
  for (std::uint32_t i = 0; i < 5; ++i) trace.add(i, make_directory, "c");
  trace.finish();
  const ReplayOutcome outcome = replay_null(trace, {.window = 256});
  CHECK(outcome.complete);
  CHECK(outcome.statistics.operations == 20'010);
}

// Gives what it has, then fails.
struct TornSource final : RecordedSource {
  VectorRecordedSource whole;
  std::size_t next(std::span<RecordedOperation> out) override {
    const std::size_t count = whole.next(out);
    if (count == 0) throw Error(ErrorKind::unusable_input, "torn.reel:77: torn");
    return count;
  }
};

TEST_CASE("read errors are thrown, and the lanes end") {
  HandTrace trace;
  tangle(trace, 4, 10'000);
  TornSource torn;
  torn.whole.operations = trace.source.operations;
  SUBCASE("before the replay, if it lies in the first window") {
    CHECK_THROWS_WITH_AS(Schedule(torn, trace.tables, trace.info, {}), "torn.reel:77: torn", Error);
  }
  SUBCASE("after it, if it lies behind") {
    Schedule schedule(torn, trace.tables, trace.info, {.window = 512});
    schedule.check();
    const ReplayOutcome outcome =
        replay(schedule.trace(), {0, 0}, {.engine = EngineKind::null, .board = &schedule.board()});
    CHECK(outcome.statistics.operations <= 10'000);
    CHECK_THROWS_WITH_AS(schedule.check(), "torn.reel:77: torn", Error);
  }
  SUBCASE("wherever it lies, although lanes wait for what was compiled just before") {
    for (std::size_t end = 600; end < 9'000; end += 173) {
      TornSource shorter;
      shorter.whole.operations = trace.source.operations;
      shorter.whole.operations.resize(end);
      Schedule schedule(shorter, trace.tables, trace.info, {.order = Order::strict, .window = 512});
      replay(schedule.trace(), {0, 0}, {.engine = EngineKind::null, .board = &schedule.board()});
      CHECK_THROWS_AS(schedule.check(), Error);
    }
  }
}

TEST_CASE("an operation of an unknown thread is refused") {
  HandTrace trace;
  trace.add(0, make_directory, "a");
  trace.finish();
  trace.source.operations[0].operation.thread = 9;
  CHECK_THROWS_WITH_AS(Schedule(trace.source, trace.tables, trace.info, {}),
                       doctest::Contains("belongs to thread 9, but the trace has only 1"), Error);
}

TEST_CASE("a schedule can be destroyed before or during its replay") {
  HandTrace trace;
  tangle(trace, 4, 10'000);
  {
    const Schedule unused(trace.source, trace.tables, trace.info, {.window = 64});
  }
  trace.source.at = 0;
  Schedule schedule(trace.source, trace.tables, trace.info, {.window = 64});
  const Trace lanes = schedule.trace();
  std::array<Operation, 10> some;
  CHECK(lanes.threads[0]->next(some) > 0);
}

// Endless; only a stop ends its replay.
struct EndlessSource final : RecordedSource {
  PathId path = 0;
  std::uint64_t position = 0;
  std::size_t next(std::span<RecordedOperation> out) override {
    for (RecordedOperation& recorded : out) {
      recorded = {};
      recorded.operation.kind = position % 2 == 0 ? make_directory : remove_directory;
      recorded.operation.path = path;
      recorded.operation.position = position;
      recorded.operation.thread = position % 8 < 2 ? 0 : 1;
      ++position;
    }
    return out.size();
  }
};

TEST_CASE("a stop reaches lanes that wait for others or for the feeder") {
  HandTrace trace;
  tangle(trace, 2, 100);
  EndlessSource source;
  source.path = trace.path("0");
  for (TraceThread& thread : trace.info.threads) thread.last = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    source.position = 0;
    Schedule schedule(source, trace.tables, trace.info, {.window = 128});
    std::stop_source stop;
    std::jthread stopper([&] {
      while (schedule.board().done(0) < 1000) std::this_thread::yield();
      stop.request_stop();
    });
    const ReplayOutcome outcome =
        replay(schedule.trace(), {0, 0},
               {.engine = EngineKind::null, .board = &schedule.board(), .stop = stop.get_token()});
    CHECK_FALSE(outcome.complete);
    CHECK(outcome.statistics.operations > 0);
  }
}

TEST_CASE("a divergence of one lane ends the others") {
  HandTrace trace;
  tangle(trace, 4, 2000);
  trace.source.operations[1000].operation.kind = unlink;  // of a directory: fails
  const TwoVolumes volumes;
  Schedule schedule(trace.source, trace.tables, trace.info, {.window = 256});
  const ReplayOutcome outcome =
      replay(schedule.trace(), volumes.roots(), {.board = &schedule.board()});
  CHECK_FALSE(outcome.complete);
  CHECK(outcome.statistics.divergences >= 1);
  CHECK(outcome.statistics.examples.at(0).position == 1000);
}

// Files made by one thread, renamed by the next, read by others, and removed by yet another. Open
// files are passed on too, with numbers that are used again at once, or stay with their threads.
void pass_files(HandTrace& trace, std::uint32_t threads, std::uint32_t files, bool pass_open) {
  trace.add(0, make_directory, "in").mode = 0755;
  trace.add(0, make_directory, "out").mode = 0755;
  for (std::uint32_t i = 0; i < threads; ++i) trace.add(i, access, "in");
  for (std::uint32_t i = 0; i < files; ++i) {
    const std::string from = "in/" + std::to_string(i), to = "out/" + std::to_string(i % 50);
    const auto thread = [&](std::uint32_t n) { return (i + n) % threads; };
    const FileSlot slot = pass_open ? i % 3 : i;
    trace.open(thread(0), slot, from, i, O_CREAT | O_EXCL | O_RDWR);
    trace.on(thread(0), write, slot, i, 0, 100);
    trace.close(thread(0), slot, i);
    trace.rename(thread(1), from, to);
    trace.open(thread(2), slot, to, i, O_RDONLY);
    trace.on(thread(2), read, slot, i, 0, 100);
    trace.on(thread(pass_open ? 3 : 2), read, slot, i, 50, 100).expected = 50;
    trace.close(thread(pass_open ? 4 : 2), slot, i);
    trace.add(thread(5), unlink, to);
  }
  for (std::uint32_t i = 0; i < threads; ++i) trace.add(i, access, "out");
  trace.finish();
}

ReplayOutcome replay_passing(Order order, std::uint32_t files) {
  HandTrace trace;
  // Without order two threads would work on one descriptor.
  pass_files(trace, 8, files, order != Order::thread);
  const TwoVolumes volumes;
  Schedule schedule(trace.source, trace.tables, trace.info, {.order = order});
  return replay(schedule.trace(), volumes.roots(),
                {.stop_on_divergence = false, .board = &schedule.board()});
}

TEST_CASE("files passed between threads diverge with order thread and never with resource") {
  for (int run = 0; run < 5; ++run) {
    for (const Order order : {Order::resource, Order::strict}) {
      const ReplayOutcome outcome = replay_passing(order, 300);
      CHECK(outcome.complete);
      CHECK(outcome.statistics.divergences == 0);
      CHECK(outcome.statistics.operations == 18 + 300 * 9);
    }
  }
  CHECK(replay_passing(Order::thread, 2000).statistics.divergences > 0);
}

TEST_CASE("a pool reuses returned chunks and waits while all are in use") {
  ChunkPool pool(16, 3);
  Chunk* const first = pool.take();
  Chunk* const second = pool.take();
  CHECK(pool.take() != nullptr);
  CHECK(pool.take() == nullptr);
  pool.give_back(second);
  pool.wait_for_some();  // does not wait: one is back already
  CHECK(pool.take() == second);
  CHECK(pool.take() == nullptr);
  std::jthread lane([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pool.give_back(first);
  });
  pool.wait_for_some();
  CHECK(pool.take() == first);
}

}  // namespace
}  // namespace filereel
