#include "replay/run/overhead.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/entries.h"
#include "tests/replay/hand_trace.h"
#include "tests/replay/two_volumes.h"
#include "traces/fc_test.h"
#include "traces/operation_stream.h"

namespace filereel {
namespace {

constexpr std::size_t kMany = 2000;

// One thread that does `operations` again and again.
struct Repeated {
  explicit Repeated(std::vector<Operation> operations) : once(std::move(operations)) {}

  double overhead_ns(std::size_t times = kMany, const std::stop_token& stop = {}) {
    return measure_overhead_ns(
        [&] {
          ++made;
          std::vector<Operation> all;
          for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), once.begin(), once.end());
          ReadyTrace ready{trace_of(paths, files, {std::move(all)})};
          ready.trace.largest_io = 1 << 20;
          return ready;
        },
        stop);
  }

  PathTable paths;
  FileSet files = set_of({file("f", 1 << 20)});
  std::vector<Operation> once;
  std::size_t made = 0;
};

Operation pause_of(std::uint64_t ns, std::uint32_t from) {
  Operation op;
  op.kind = OperationKind::pace;
  op.offset = ns;
  op.flags = from;
  return op;
}

Operation transfer(OperationKind kind, std::uint64_t length) {
  Operation op = data(kind, 0, 0, length);
  op.entry = 0;
  return op;
}

double overhead_of(const FcTest& test) {
  return measure_overhead_ns([&] { return ReadyTrace{test.trace(FcStep::read)}; });
}

TEST_CASE("the overhead per operation does not grow with the number of threads") {
  std::vector<Entry> entries;
  for (int i = 0; i < 20'000; ++i) entries.push_back(file(fmt::format("{}", i), 4096));
  const FileSet set = set_of(std::move(entries));
  const double one = overhead_of(FcTest(set, {.threads = 1}));
  CHECK(one > 0);
  CHECK(overhead_of(FcTest(set, {.threads = 64})) < 20 * one);
}

// It would take years if any of them took its time.
TEST_CASE("the overhead excludes pauses, work and waits") {
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  const Operation read = transfer(OperationKind::read, 4096);
  for (const std::uint32_t from :
       {pace_flags::kFromStart, pace_flags::kFromLastEnd, pace_flags::kFromNow, pace_flags::kWork,
        pace_flags::kFirstWork}) {
    CAPTURE(from);
    Repeated pausing({pause_of(kHour, from), read});
    CHECK(pausing.overhead_ns() > 0);
  }
  for (const std::uint32_t why : {wait_flags::kForThread, wait_flags::kForOutside,
                                  wait_flags::kForProcessor, wait_flags::kForRecorder}) {
    CAPTURE(why);
    Operation wait;
    wait.kind = OperationKind::wait;
    wait.flags = why;
    wait.length = kHour;
    Repeated waiting({pause_of(0, pace_flags::kFromNow), wait, read});
    CHECK(waiting.overhead_ns() > 0);
  }
}

TEST_CASE("the overhead excludes generating content") {
  constexpr double kContentNs = 10'000;  // a MiB takes at least that, at 100 GB/s
  Repeated writing({transfer(OperationKind::write, 1 << 20)});
  const double cost = writing.overhead_ns();
  CHECK(cost > 0);
  CHECK(cost < kContentNs);
}

// Gives the same operation for ever.
class Endless final : public OperationSource {
 public:
  std::size_t next(std::span<Operation> out) override {
    std::ranges::fill(out, transfer(OperationKind::read, 4096));
    return out.size();
  }
};

TEST_CASE("the overhead of endless traces is measured") {
  const PathTable paths;
  const FileSet files = set_of({file("f", 4096)});
  CHECK(measure_overhead_ns([&] {
          ReadyTrace ready{trace_of(paths, files, {})};
          for (int i = 0; i < 3; ++i) ready.trace.threads.push_back(std::make_unique<Endless>());
          return ready;
        }) > 0);
}

TEST_CASE("the overhead is unknown for too few operations, or after a stop") {
  Repeated reading({transfer(OperationKind::read, 4096)});
  CHECK(reading.overhead_ns(999) == 0);
  CHECK(reading.made == 1);
  std::stop_source stop;
  stop.request_stop();
  CHECK(reading.overhead_ns(kMany, stop.get_token()) == 0);
  CHECK(reading.made == 1);
}

TEST_CASE("the overhead of recorded traces is measured in the same way") {
  HandTrace trace;
  for (std::size_t i = 0; i < kMany; ++i) trace.add(i % 4, OperationKind::stat, "a");
  trace.finish();
  std::optional<Schedule> schedule;
  const double cost = measure_overhead_ns([&] {
    trace.source.at = 0;
    schedule.emplace(trace.source, trace.tables, trace.info, ScheduleOptions{});
    return ReadyTrace{schedule->trace(), &schedule->board()};
  });
  schedule->check();
  CHECK(cost > 0);
}

}  // namespace
}  // namespace filereel
