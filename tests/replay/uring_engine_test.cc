// Requests that are in flight together.
#include <span>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "replay/engine/io_engine.h"
#include "replay/measure/clock.h"
#include "tests/replay/engine_rig.h"

namespace filereel {
namespace {

using enum OperationKind;

// Writes a file and reads it back, with at most `together` requests of the trace in flight.
std::vector<Operation> there_and_back(EngineRig& rig, std::uint64_t requests,
                                      std::uint64_t together) {
  std::vector<Operation> operations = {rig.open(3, "f", O_RDWR | O_CREAT, 7)};
  for (const OperationKind kind : {write, read}) {
    for (std::uint64_t i = 0; i < requests; ++i) {
      Operation request = EngineRig::transfer(kind, 3, i * 4096, 4096, 7);
      request.asynchronous = true;
      operations.push_back(request);
      Operation reaping;
      reaping.kind = reap;
      reaping.length = i + 1 < requests ? together - 1 : 0;
      operations.push_back(reaping);
    }
  }
  operations.push_back(EngineRig::use(close, 3));
  for (std::size_t i = 0; i < operations.size(); ++i) operations[i].position = i;
  return operations;
}

}  // namespace

TEST_CASE("asynchronous requests are submitted and seen to their ends") {
  if (why_no_uring()) return;
  for (const std::uint32_t depth : {0U, 1U, 5U}) {
    CAPTURE(depth);
    EngineRig rig;
    LaneBoard board(1);
    EngineContext context = rig.context();
    context.queue_depth = depth;
    context.verify = Verify::content;
    context.board = &board;
    const auto engine = make_engine(EngineKind::uring, context, 0);
    const std::vector<Operation> operations = there_and_back(rig, 1000, 8);
    CHECK(engine->execute(operations, true));
    CHECK(engine->drain());
    const ReplayStatistics& statistics = engine->statistics();
    CHECK(statistics.divergences == 0);
    CHECK(board.done(0) == operations.size());
  }
}

TEST_CASE("a request's latency ends when it ends, not when the next operation is due") {
  if (why_no_uring()) return;
  EngineRig rig;
  EngineContext context = rig.context();
  context.queue_depth = 4;
  const auto engine = make_engine(EngineKind::uring, context, 0);
  std::vector<Operation> operations = there_and_back(rig, 1, 1);
  CHECK(engine->execute(std::span(operations).first(2), true));  // open, write
  constexpr std::uint64_t kPauseNs = 300'000'000;
  const std::uint64_t due = now_ns() + kPauseNs;
  CHECK(engine->wait_until(due));
  CHECK(now_ns() >= due);
  CHECK(engine->statistics().of(write).latency.count() == 1);
  CHECK(engine->statistics().of(write).latency.max() < kPauseNs);
  CHECK(engine->drain());
}

}  // namespace filereel
