#include "replay/schedule/pacing.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/engine/replayer.h"
#include "replay/measure/clock.h"
#include "tests/replay/hand_trace.h"

namespace filereel {
namespace {

using enum OperationKind;

TEST_CASE("names of paces and orders are parsed back") {
  for (const char* name : {"asap", "natural", "think", "2x", "0.5x", "think/2x", "think/0.25x"}) {
    CHECK(pace_name(parse_pace(name)) == name);
  }
  CHECK(pace_name(parse_pace("1x")) == "natural");
  CHECK(pace_name(parse_pace("think/1x")) == "think");
  CHECK(parse_pace("2x").kind == Pace::Kind::natural);
  CHECK(parse_pace("2x").speed == 2);
  CHECK(parse_pace("think/2x").kind == Pace::Kind::think);
  for (const char* name : {"", "x", "2", "2xx", "-1x", "0x", "nanx", "infx", "1e9x", "think/",
                           "asap/2x", "fast", " 2x", "2 x"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(parse_pace(name), Error);
  }
  for (const Order order : {Order::strict, Order::resource, Order::thread}) {
    CHECK(parse_order(order_name(order)) == order);
  }
  CHECK_THROWS_AS(parse_order("Strict"), Error);
}

void timed(HandTrace& trace, std::uint32_t thread, OperationKind kind, std::uint64_t start_ns,
           std::uint64_t duration_ns) {
  trace.add(thread, kind, "x");
  trace.source.operations.back().start_ns = start_ns;
  trace.source.operations.back().duration_ns = duration_ns;
}

std::vector<Operation> paces_of(HandTrace& trace, const char* pace) {
  trace.info.threads.resize(3);
  Pacing pacing(parse_pace(pace), trace.info);
  std::vector<Operation> result;
  for (RecordedOperation recorded : trace.source.operations) {
    Operation op;
    if (pacing.add(recorded, op)) result.push_back(op);
  }
  return result;
}

TEST_CASE("at natural pace an operation is due at its recorded start, scaled by a factor") {
  HandTrace trace;
  timed(trace, 0, make_directory, 0, 5);
  timed(trace, 1, make_directory, 3000, 5);
  timed(trace, 0, make_directory, 8000, 5);
  CHECK(paces_of(trace, "asap").empty());
  for (const auto& [pace, first, second] :
       {std::tuple("natural", 3000U, 8000U), std::tuple("2x", 1500U, 4000U),
        std::tuple("0.5x", 6000U, 16000U)}) {
    const std::vector<Operation> paces = paces_of(trace, pace);
    REQUIRE(paces.size() == 2);  // the first one is due at once
    CHECK(paces[0].kind == OperationKind::pace);
    CHECK(paces[0].flags == pace_flags::kFromStart);
    CHECK(paces[0].offset == first);
    CHECK(paces[1].offset == second);
  }
}

TEST_CASE("at pace think a thread pauses between operations as recorded") {
  HandTrace trace;
  timed(trace, 0, make_directory, 5'000, 1'000);
  timed(trace, 0, fork, 10'000, 2'000);
  trace.source.operations.back().operation.second = 1;
  timed(trace, 1, make_directory, 40'000, 50'000);
  timed(trace, 0, make_directory, 20'000, 100);
  timed(trace, 0, make_directory, 20'500, 100);  // too short a pause to keep for itself
  timed(trace, 1, make_directory, 100'000, 100);
  timed(trace, 2, make_directory, 7'000, 100);
  const std::vector<Operation> paces = paces_of(trace, "think/2x");
  REQUIRE(paces.size() == 6);
  CHECK(paces[0].flags == pace_flags::kFromStart);
  CHECK(paces[0].offset == 2'500);
  CHECK(paces[1].flags == pace_flags::kFromLastEnd);
  CHECK(paces[1].offset == 3'000);                // with the work of the fork
  CHECK(paces[2].flags == pace_flags::kFromNow);  // after its fork
  CHECK(paces[2].offset == 14'000);
  CHECK(paces[3].flags == pace_flags::kFromLastEnd);
  CHECK(paces[3].offset == 4'000);
  CHECK(paces[4].flags == pace_flags::kFromLastEnd);
  CHECK(paces[4].offset == 5'000);
  CHECK(paces[5].flags == pace_flags::kFromStart);  // nobody forked it
}

TEST_CASE("the recorder's overhead is subtracted from pauses, not from times") {
  HandTrace trace;
  timed(trace, 0, make_directory, 5'000, 1'000);
  timed(trace, 0, fork, 10'000, 2'000);
  trace.source.operations.back().operation.second = 1;
  timed(trace, 1, make_directory, 40'000, 50'000);
  timed(trace, 0, make_directory, 13'400, 100);  // a pause that was the recorder's
  trace.finish();
  trace.info.recorder_ns = 1'500;
  const auto paces = [&](const char* pace) {
    Pacing pacing(parse_pace(pace), trace.info);
    std::vector<std::uint64_t> offsets;
    for (RecordedOperation recorded : trace.source.operations) {
      Operation op;
      if (pacing.add(recorded, op)) offsets.push_back(op.offset);
    }
    return offsets;
  };
  CHECK(paces("think") == std::vector<std::uint64_t>{5'000, 4'500, 26'500});
  CHECK(paces("think/2x") == std::vector<std::uint64_t>{2'500, 2'250, 13'250});
  CHECK(paces("natural") == std::vector<std::uint64_t>{5'000, 10'000, 40'000, 13'400});
}

TEST_CASE("a thread whose waits are known works between its operations") {
  HandTrace trace;
  trace.info.waits = true;
  const auto wait = [&](std::uint32_t thread, std::uint32_t why, std::uint64_t start,
                        std::uint64_t duration, std::uint64_t length) {
    timed(trace, thread, OperationKind::wait, start, duration);
    trace.source.operations.back().operation.flags = why;
    trace.source.operations.back().operation.length = length;
  };
  wait(0, wait_flags::kForProcessor, 0, 0, 0);
  timed(trace, 0, make_directory, 10'000, 1'000);
  wait(0, wait_flags::kForThread, 15'000, 5'000, 4'000);
  timed(trace, 0, make_directory, 20'500, 500);  // 500 ns are kept for later
  wait(0, wait_flags::kForRecorder, 24'000, 0, 2'000);
  timed(trace, 0, make_directory, 25'000, 1'000);
  timed(trace, 0, execute, 27'000, 8'000);
  timed(trace, 0, fork, 40'000, 10'000);
  trace.source.operations.back().operation.second = 1;
  wait(1, wait_flags::kForProcessor, 50'000, 4'000, 0);  // its first one
  timed(trace, 1, make_directory, 60'000, 1'000);
  wait(0, wait_flags::kForOutside, 51'000, 9'000, 6'000);
  const std::vector<Operation> paces = paces_of(trace, "think/0.5x");
  std::vector<std::pair<std::uint32_t, std::uint64_t>> got;
  for (const Operation& pace : paces) got.emplace_back(pace.flags, pace.offset / 2);
  using namespace pace_flags;
  CHECK(got == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{kWork, 10'000},
                                                                    {kWork, 4'000},
                                                                    {kWork, 1'500},
                                                                    {kWork, 1'000},
                                                                    {kWork, 9'000},
                                                                    {kWork, 15'000},
                                                                    {kFirstWork, 6'000},
                                                                    {kWork, 1'000}});
}

TEST_CASE("extreme times are capped") {
  HandTrace trace;
  timed(trace, 0, make_directory, UINT64_MAX, UINT64_MAX);
  timed(trace, 0, make_directory, 5, 5);
  for (const char* pace : {"natural", "0.000001x", "think"}) {
    for (const Operation& op : paces_of(trace, pace)) CHECK(op.offset <= 1ULL << 62);
  }
}

TEST_CASE("a trace without times cannot be paced") {
  HandTrace trace;
  timed(trace, 0, make_directory, 0, 0);
  trace.finish();
  trace.info.timed = false;
  CHECK_THROWS_WITH_AS(
      Schedule(trace.source, trace.tables, trace.info, {.pace = parse_pace("natural")}),
      "the trace has no recorded times and cannot be replayed at pace natural; use --pace "
      "asap",
      Error);
}

ReplayOutcome replay_null(HandTrace& trace, const ScheduleOptions& options,
                          std::stop_token stop = {}) {
  if (trace.info.operations == 0) trace.finish();
  trace.source.at = 0;
  Schedule schedule(trace.source, trace.tables, trace.info, options);
  ReplayOutcome outcome =
      replay(schedule.trace(), {0, 0},
             {.engine = EngineKind::null, .board = &schedule.board(), .stop = std::move(stop)});
  schedule.check();
  return outcome;
}

TEST_CASE("natural pace takes the recorded time and reports lateness") {
  HandTrace trace;
  constexpr std::uint64_t kStep = 250'000;
  for (std::uint64_t i = 1; i <= 2000; ++i) timed(trace, i % 2, make_directory, i * kStep, 1000);
  const ReplayOutcome outcome = replay_null(trace, {.pace = parse_pace("natural")});
  CHECK(outcome.complete);
  // Only bounds that a busy machine keeps; how exact it is, tests/peers/reel_figures.py measures.
  // Less than the recorded 0.5 s is right too: the pace begins when the lanes are let go, the
  // elapsed time when the first of them runs.
  CHECK(outcome.elapsed_s >= 0.4);
  CHECK(outcome.statistics.lateness.count() == 2000);
  MESSAGE("lateness p50 ", outcome.statistics.lateness.percentile(0.5), " ns, p99 ",
          outcome.statistics.lateness.percentile(0.99), " ns");
  const ReplayOutcome faster = replay_null(trace, {.pace = parse_pace("4x")});
  CHECK(faster.elapsed_s >= 0.1);
}

TEST_CASE("pace think keeps pauses, not times") {
  HandTrace trace;
  constexpr std::uint64_t kMs = 1'000'000;
  // Calls of 10 s each that take no time here, and pauses of 10 ms.
  for (std::uint64_t i = 0; i < 20; ++i)
    timed(trace, 0, make_directory, i * 10'010 * kMs, 10'000 * kMs);
  const ReplayOutcome outcome = replay_null(trace, {.pace = parse_pace("think")});
  CHECK(outcome.complete);
  CHECK(outcome.elapsed_s >= 0.15);
  CHECK(outcome.elapsed_s < 100);  // with the calls' times it would be 200
}

TEST_CASE("a wait that no operation of its thread follows is no part of the time") {
  constexpr std::uint64_t kMs = 1'000'000;
  const auto time_of = [](bool followed) {
    HandTrace trace;
    timed(trace, 0, make_directory, 0, 0);
    timed(trace, 1, OperationKind::wait, 0, 1000 * kMs);
    Operation& wait = trace.source.operations.back().operation;
    wait.flags = wait_flags::kForOutside;
    wait.length = 1000 * kMs;
    if (followed) timed(trace, 1, make_directory, 1001 * kMs, 0);
    trace.finish();
    trace.info.waits = true;
    return replay_null(trace, {.pace = parse_pace("think")}).elapsed_s;
  };
  CHECK(time_of(true) >= 1);
  CHECK(time_of(false) < 1);
}

TEST_CASE("a stop ends the longest sleep at once") {
  HandTrace trace;
  timed(trace, 0, make_directory, 0, 0);
  timed(trace, 0, make_directory, 3'600'000'000'000, 0);
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop.request_stop();
  });
  const std::uint64_t start = now_ns();
  const ReplayOutcome outcome =
      replay_null(trace, {.pace = parse_pace("natural")}, stop.get_token());
  CHECK_FALSE(outcome.complete);
  CHECK(now_ns() - start < 60'000'000'000);
}

TEST_CASE("a sleep never ends early") {
  prepare_precise_sleep();
  for (const std::uint64_t ns : {0U, 1000U, 60'000U, 200'000U, 60'000'000U}) {
    const std::uint64_t due = now_ns() + ns;
    sleep_until(due, {});
    CHECK(now_ns() >= due);
  }
}

}  // namespace
}  // namespace filereel
