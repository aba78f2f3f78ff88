// Requests that are in flight together.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "replay/engine/io_engine.h"
#include "replay/measure/clock.h"
#include "tests/replay/engine_rig.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;
using enum OperationKind;

// Whether anyone has it open, if only the kernel.
bool is_open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(file.get() >= 0);
  return fcntl(file.get(), F_SETLEASE, F_WRLCK) != 0;  // for the only one who has it open
}

// Writes a file and reads it back, with at most `together` requests of the trace in flight.
std::vector<Operation> there_and_back(EngineRig& rig, std::uint64_t requests,
                                      std::uint64_t together) {
  std::vector<Operation> operations = {rig.open(3, "f", O_RDWR | O_CREAT, 7)};
  for (const OperationKind kind : {write, read}) {
    for (std::uint64_t i = 0; i < requests; ++i) {
      Operation request = EngineRig::transfer(kind, 3, i * 4096, 4096, 7);
      request.asynchronous = true;
      operations.push_back(request);
      Operation reaping = of_file(reap, kNoFile);
      reaping.length = i + 1 < requests ? together - 1 : 0;
      operations.push_back(reaping);
    }
  }
  operations.push_back(of_file(close, 3));
  for (std::size_t i = 0; i < operations.size(); ++i) operations[i].position = i;
  return operations;
}

std::unique_ptr<IoEngine> begun_uring(const EngineContext& context) {
  std::unique_ptr<IoEngine> engine = make_engine(EngineKind::uring, context, 0);
  engine->begin();
  return engine;
}

// Executes all, each with the result that it is to have.
void run(IoEngine& engine, std::span<const Operation> operations) {
  CHECK(engine.execute(operations, true) == Execution::all);
  CHECK(operations.empty());
  CHECK(engine.drain());
}

TEST_CASE("asynchronous requests are submitted and completed") {
  if (uring_unavailable_reason()) return;
  for (const std::uint32_t depth : {0U, 1U, 5U}) {
    CAPTURE(depth);
    EngineRig rig;
    LaneBoard board(1);
    EngineContext context = rig.context();
    context.queue_depth = depth;
    context.verify = Verify::content;
    context.board = &board;
    const auto engine = begun_uring(context);
    const std::vector<Operation> operations = there_and_back(rig, 1000, 8);
    run(*engine, operations);
    const ReplayStatistics& statistics = engine->statistics();
    CHECK(statistics.divergences == 0);
    CHECK(board.done(0) == operations.size());
  }
}

TEST_CASE("a request's latency ends when it ends, not when the next operation is due") {
  if (uring_unavailable_reason()) return;
  EngineRig rig;
  EngineContext context = rig.context();
  context.queue_depth = 4;
  const auto engine = begun_uring(context);
  std::vector<Operation> operations = there_and_back(rig, 1, 1);
  std::span<const Operation> rest = std::span(operations).first(2);  // open, write
  CHECK(engine->execute(rest, true) == Execution::all);
  constexpr std::uint64_t kPauseNs = 300'000'000;
  const std::uint64_t due = now_ns() + kPauseNs;
  CHECK(engine->wait_until(due));
  CHECK(now_ns() >= due);
  CHECK(engine->statistics().of(write).latency().count() == 1);
  CHECK(engine->statistics().of(write).latency().max() < kPauseNs);
  CHECK(engine->drain());
}

TEST_CASE("all depths read the data written, also with direct I/O, and count each request once") {
  if (uring_unavailable_reason()) return;
  constexpr std::uint64_t kRequests = 5000;
  for (const std::uint32_t depth : {1U, 2U, 63U, 64U, 65U, 256U, 4096U}) {
    for (const int direct : {0, open_flags::kDirect}) {
      CAPTURE(depth);
      CAPTURE(direct);
      EngineRig rig;
      EngineContext context = rig.context();
      context.largest_io = 4096;
      context.queue_depth = depth;
      context.overlapping = true;
      context.verify = Verify::content;
      const auto engine = begun_uring(context);
      std::vector<Operation> operations = {rig.open(3, "f", O_RDWR | O_CREAT | direct, 7)};
      for (const OperationKind kind : {write, read}) {
        for (std::uint64_t i = 0; i < kRequests; ++i) {
          operations.push_back(EngineRig::transfer(kind, 3, i * 7919 % kRequests * 4096, 4096, 7));
        }
        operations.push_back(of_file(sync, 3));
      }
      operations.push_back(of_file(close, 3));
      run(*engine, operations);
      engine->end();
      const ReplayStatistics& statistics = engine->statistics();
      CHECK(statistics.divergences == 0);
      CHECK(statistics.of(write).count() == kRequests);
      CHECK(statistics.of(read).bytes == kRequests * 4096);
      CHECK(statistics.operations == operations.size());
    }
  }
}

TEST_CASE("a file opened in a reused slot is the new file") {
  if (uring_unavailable_reason()) return;
  EngineRig rig;
  EngineContext context = rig.context();
  context.queue_depth = 8;
  context.verify = Verify::content;
  const auto engine = begun_uring(context);
  // Often enough for the kernel to hold on to each of them.
  const auto use_often = [&](const char* name, FileId entry) {
    std::vector<Operation> operations = {rig.open(3, name, O_RDWR | O_CREAT, entry)};
    for (const OperationKind kind : {write, read}) {
      for (std::uint64_t i = 0; i < 300; ++i) {
        operations.push_back(EngineRig::transfer(kind, 3, i * 4096, 4096, entry));
      }
    }
    run(*engine, operations);
  };
  use_often("a", 1);
  use_often("b", 2);  // without a close
  run(*engine, std::vector{of_file(close, 3)});
  use_often("c", 3);
  CHECK(engine->statistics().divergences == 0);
  CHECK(fs::file_size(rig.near("a")) == 300 * 4096);
  CHECK(fs::file_size(rig.near("c")) == 300 * 4096);
  // Closed is closed: nothing reads it any more.
  run(*engine, std::vector{of_file(close, 3)});
  Operation late = EngineRig::transfer(read, 3, 0, 4096, 3);
  late.expected = -EBADF;
  run(*engine, std::vector{late});
  CHECK(engine->statistics().divergences == 0);
  for (const char* const name : {"a", "b", "c"}) CHECK_FALSE(is_open(rig.near(name)));
  use_often("d", 4);
  CHECK(is_open(rig.near("d")));
  ::close(rig.open_files[3].fd.exchange(-1));
  CHECK(is_open(rig.near("d")));  // by the kernel
  engine->end();
  CHECK_FALSE(is_open(rig.near("d")));
}

TEST_CASE("nothing starts after the alarm, and earlier requests complete") {
  if (uring_unavailable_reason()) return;
  for (const std::uint32_t depth : {1U, 16U}) {
    CAPTURE(depth);
    EngineRig rig;
    EngineContext context = rig.context();
    context.queue_depth = depth;
    const auto engine = begun_uring(context);
    const std::vector<Operation> operations = there_and_back(rig, 1000, 1);
    std::span<const Operation> rest = operations;
    engine->set_alarm(now_ns());
    CHECK(engine->execute(rest, true) == Execution::alarm);
    CHECK(rest.size() == operations.size() - 1);
    CHECK(engine->execute(rest, true) == Execution::alarm);
    CHECK(rest.size() + depth + 3 >= operations.size());
    CHECK(engine->drain());
    CHECK(engine->statistics().operations == operations.size() - rest.size());
    engine->set_alarm(UINT64_MAX);
    CHECK(engine->execute(rest, true) == Execution::all);
    engine->end();
    CHECK(engine->statistics().divergences == 0);
    CHECK(engine->statistics().operations == operations.size());
  }
}

TEST_CASE("concurrent requests show in their latencies") {
  if (uring_unavailable_reason()) return;
  const auto latency_at = [](std::uint32_t depth) {
    EngineRig rig;
    EngineContext context = rig.context();
    context.queue_depth = depth;
    context.overlapping = true;
    const auto engine = begun_uring(context);
    std::vector<Operation> operations = {rig.open(3, "f", O_RDWR | O_CREAT, 7),
                                         EngineRig::transfer(write, 3, 0, 65536, 7),
                                         of_file(sync, 3)};
    operations.insert(operations.end(), 2048, EngineRig::transfer(read, 3, 0, 65536, 7));
    run(*engine, operations);
    engine->end();
    return engine->statistics().of(read).latency().percentile(0.5);
  };
  // All of a batch are seen together.
  CHECK(latency_at(64) > 8 * latency_at(1));
}

TEST_CASE("writes of the same bytes keep their order where they do not overlap on purpose") {
  if (uring_unavailable_reason()) return;
  EngineRig rig;
  EngineContext context = rig.context();
  context.queue_depth = 32;
  context.verify = Verify::content;
  const auto engine = begun_uring(context);
  std::vector<Operation> operations = {rig.open(3, "f", O_RDWR | O_CREAT | open_flags::kDirect, 7)};
  for (int i = 0; i < 200; ++i) {
    operations.push_back(EngineRig::transfer(write, 3, 0, 65536, static_cast<FileId>(i)));
    operations.push_back(EngineRig::transfer(read, 3, 0, 65536, static_cast<FileId>(i)));
  }
  run(*engine, operations);
  CHECK(engine->statistics().divergences == 0);
  engine->end();
}

TEST_CASE("polling is refused with a reason if the device does not support it") {
  EngineRig rig;
  const std::optional<std::string> why = polling_unavailable_reason(rig.volumes.near_root.get());
  const std::optional<std::string> nowhere = polling_unavailable_reason(-1);
  REQUIRE(nowhere);
  CHECK_FALSE(nowhere->empty());
  if (why) {
    CHECK(why->find("poll") != std::string::npos);
    CHECK(why->find('\n') == std::string::npos);
  }
}

TEST_CASE("a polling engine also reads files without direct I/O") {
  if (uring_unavailable_reason()) return;
  EngineRig rig;
  EngineContext context = rig.context();
  context.queue_depth = 4;
  context.poll = true;
  context.verify = Verify::content;
  const auto engine = begun_uring(context);
  run(*engine, there_and_back(rig, 100, 1));
  engine->end();
  CHECK(engine->statistics().divergences == 0);
}

}  // namespace
}  // namespace filereel
