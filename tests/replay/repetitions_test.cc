#include "replay/run/repetitions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/plan/precision.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// A clock that is set by hand, and the measurements of a part of a run.
struct Rig {
  std::uint64_t now = 1'000;
  std::vector<Measurement> measurements = {measurement_of("iso", "create", "ext4", "kernel"),
                                           measurement_of("iso", "read", "ext4", "kernel")};

  Nanoseconds clock() {
    return [this] { return now; };
  }
  std::vector<Measurement*> list() {
    std::vector<Measurement*> all;
    for (Measurement& measurement : measurements) all.push_back(&measurement);
    return all;
  }
  // A repetition that takes so long and moves 100 MB in `durable_s` each.
  void measure(double seconds, double durable_s) {
    now += static_cast<std::uint64_t>(seconds * 1e9);
    for (Measurement& measurement : measurements) {
      const auto run = static_cast<std::uint32_t>(measurement.samples.size() + 1);
      measurement.samples.push_back(sample_of(run, durable_s, durable_s, 100'000'000, 3));
    }
  }
  // Runs to the end; gives how many there were. The times alternate by `noise` around 1 s.
  std::uint32_t run(Repetitions& repetitions, double seconds, double noise) {
    while (repetitions.next(list())) {
      measure(seconds, 1 + (repetitions.run() % 2 == 0 ? noise : -noise));
    }
    return repetitions.run();
  }
  std::string ended() const {
    CHECK(measurements[0].runs_ended == measurements[1].runs_ended);
    return measurements[0].runs_ended;
  }
};

TEST_CASE("a fixed number of repetitions, without a reason for their end") {
  Rig rig;
  Repetitions repetitions(3, std::nullopt, rig.clock());
  CHECK(repetitions.runs() == 3);
  CHECK(rig.run(repetitions, 1000, 0.5) == 3);
  CHECK(rig.ended().empty());
}

TEST_CASE("unusable repetitions are replaced, at most as many as were wanted") {
  Repetitions repetitions(2, std::nullopt);
  int run = 0;
  while (repetitions.next({})) {
    ++run;
    repetitions.replace();
  }
  CHECK(run == 4);
}

TEST_CASE("figures without variation are precise after the minimum number of repetitions") {
  Rig rig;
  Repetitions repetitions(3, AutoRuns{.least = 7}, rig.clock());
  CHECK(repetitions.runs() == 0);
  CHECK(rig.run(repetitions, 1, 0) == 7);
  CHECK(rig.ended() == "precise");
}

TEST_CASE("figures that vary too much are repeated up to the maximum") {
  Rig rig;
  Repetitions repetitions(3, AutoRuns{.width = 0.01, .most = 12}, rig.clock());
  CHECK(rig.run(repetitions, 1, 0.2) == 12);
  CHECK(rig.ended() == "most");
}

TEST_CASE("no repetition starts that would exceed the budget") {
  Rig rig;
  Repetitions repetitions(3, AutoRuns{.width = 0.01, .budget_s = 95}, rig.clock());
  CHECK(rig.run(repetitions, 10, 0.2) == 9);
  CHECK(rig.ended() == "budget");
}

TEST_CASE("there is one repetition even for the smallest budget") {
  Rig rig;
  Repetitions repetitions(3, AutoRuns{.budget_s = 0}, rig.clock());
  CHECK(rig.run(repetitions, 10, 0) == 1);
  CHECK(rig.ended() == "budget");
}

TEST_CASE("a precise measurement is marked even if another one is not") {
  Rig rig;
  Repetitions repetitions(3, AutoRuns{.width = 0.01, .most = 8}, rig.clock());
  while (repetitions.next(rig.list())) {
    rig.measure(1, 1);
    Sample& other = rig.measurements[1].samples.back();
    other.elapsed_s = repetitions.run() % 2 == 0 ? 1.5 : 0.5;
  }
  CHECK(rig.measurements[0].runs_ended == "precise");
  CHECK(rig.measurements[1].runs_ended == "most");
}

TEST_CASE("steps without a rate do not affect precision") {
  Rig rig;
  rig.measurements[1].samples.clear();
  Repetitions repetitions(3, AutoRuns{}, rig.clock());
  while (repetitions.next(rig.list())) {
    rig.measure(1, 1);
    rig.measurements[1].samples.clear();
  }
  CHECK(repetitions.run() == 6);
}

TEST_CASE("the expected number of repetitions is never below the current one") {
  Rig rig;
  Repetitions fixed(4, std::nullopt, rig.clock());
  while (fixed.next(rig.list())) {
    CHECK(fixed.expected() == 4);
    rig.measure(1, 1);
  }
  Rig noisy;
  Repetitions automatic(1, AutoRuns{.width = 0.01, .budget_s = 50}, noisy.clock());
  while (automatic.next(noisy.list())) {
    CHECK(automatic.expected() >= automatic.run());
    CHECK(automatic.expected() <= 100);
    noisy.measure(1, automatic.run() % 2 == 0 ? 2 : 1);
  }
}

TEST_CASE(
    "the variation between repetitions tells how many are needed before there are intervals") {
  Rig steady;
  Repetitions few(1, AutoRuns{}, steady.clock());
  for (int run = 1; run <= 4 && few.next(steady.list()); ++run) {
    CHECK(few.expected() == 6);
    steady.measure(1, 1);
  }
  Rig noisy;
  Repetitions many(1, AutoRuns{.budget_s = 1e6}, noisy.clock());
  for (int run = 1; run <= 4 && many.next(noisy.list()); ++run) {
    CHECK((many.expected() > 20) == (run > 2));
    noisy.measure(1, run % 2 == 0 ? 1.2 : 1);
  }
}

TEST_CASE("groups share the budget left by earlier groups") {
  Rig rig;
  SharedBudget budget(AutoRuns{.budget_s = 90}, 3, rig.clock());
  CHECK(budget.next()->budget_s == doctest::Approx(30));
  rig.now += 10'000'000'000;
  CHECK(budget.next()->budget_s == doctest::Approx(40));
  rig.now += 100'000'000'000;
  CHECK(budget.next()->budget_s == doctest::Approx(0));
  CHECK_FALSE(SharedBudget(std::nullopt, 3, rig.clock()).next());
}

TEST_CASE("every second repetition reverses the order of volumes") {
  using Order = std::vector<std::size_t>;
  CHECK(turns_of(1, 2) == Order{0, 1});
  CHECK(turns_of(2, 2) == Order{1, 0});
  CHECK(turns_of(3, 2) == Order{0, 1});
  CHECK(turns_of(2, 3) == Order{2, 1, 0});
  CHECK(turns_of(2, 1) == Order{0});
}

TEST_CASE("points in turns: every repetition begins with the next one of each group") {
  using Order = std::vector<std::uint64_t>;
  CHECK(order_of_points(1, 4, 1) == Order{0, 1, 2, 3});
  CHECK(order_of_points(2, 4, 1) == Order{0, 1, 2, 3});
  CHECK(order_of_points(1, 3, 3) == Order{0, 1, 2});
  CHECK(order_of_points(2, 3, 3) == Order{1, 2, 0});
  CHECK(order_of_points(4, 3, 3) == Order{0, 1, 2});
  CHECK(order_of_points(1, 6, 2) == Order{0, 1, 2, 3, 4, 5});
  CHECK(order_of_points(2, 6, 2) == Order{1, 0, 3, 2, 5, 4});
}

TEST_CASE("existing measurements are not among the new ones") {
  Result one, other;
  one.measurements.push_back(measurement_of("iso", "create", "ext4", "kernel"));
  Result* const results[] = {&one, &other};
  const NewMeasurements added(results);
  CHECK(added.list().empty());
  one.measurements.push_back(measurement_of("iso", "read", "ext4", "kernel"));
  other.measurements.push_back(measurement_of("mp3", "read", "ext4", "kernel"));
  CHECK(added.list() == std::vector<Measurement*>{&one.measurements[1], &other.measurements[0]});
}

// Reads whose p99.9 alternates by `noise`.
void add_reads(Rig& rig, double noise, std::uint64_t count) {
  for (Measurement& measurement : rig.measurements) {
    LatencySummary& reads = measurement.samples.back().latency["read"];
    reads.count = count;
    reads.p999_us = 1000 * (1 + (measurement.samples.size() % 2 == 0 ? noise : -noise));
  }
}

TEST_CASE("precision can be requested for a tail, too") {
  const auto runs = [](double noise, std::uint64_t count) {
    Rig rig;
    Repetitions repetitions(3, AutoRuns{.most = 40, .tail = TailPrecision{99.9, 0.1}}, rig.clock());
    while (repetitions.next(rig.list())) {
      rig.measure(1, 1);
      add_reads(rig, noise, count);
    }
    return std::pair(repetitions.run(), rig.ended());
  };
  CHECK(runs(0.01, 20'000) == std::pair(6U, std::string("precise")));
  CHECK(runs(0.2, 20'000) == std::pair(40U, std::string("most")));
  CHECK(runs(0.2, 500) == std::pair(6U, std::string("precise")));  // no tail to speak of
}

TEST_CASE("precision is parsed from common notations") {
  AutoRuns automatic;
  CHECK(read_precision("3%", automatic).empty());
  CHECK(automatic.width == doctest::Approx(0.03));
  CHECK_FALSE(automatic.tail);
  CHECK(read_precision("p99.9=10%,7 %", automatic).empty());
  CHECK(automatic.width == doctest::Approx(0.07));
  REQUIRE(automatic.tail);
  CHECK(automatic.tail->percentile == 99.9);
  CHECK(automatic.tail->width == doctest::Approx(0.1));
  for (const char* bad :
       {"", "3", "0%", "101%", "p99.9", "p99.9=", "p98=5%", "=5%", "5%,", "x=5%"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_precision(bad, automatic).empty());
  }
}

// Measures rounds with these rates (100 MB each), the last one again and again.
std::uint32_t run_rounds(Rig& rig, Repetitions& repetitions, const std::vector<double>& rates) {
  while (repetitions.next(rig.list())) {
    const std::size_t round = std::min<std::size_t>(repetitions.run(), rates.size()) - 1;
    rig.measure(1, 100 / rates[round]);
  }
  return repetitions.run();
}

std::vector<double> rounded(const std::vector<double>& values) {
  std::vector<double> all;
  for (const double value : values) all.push_back(std::round(value));
  return all;
}

TEST_CASE("with a steady state, only rounds from it on are samples, as many as wanted") {
  Rig rig;
  Repetitions repetitions(6, std::nullopt, rig.clock(), std::identity(), true);
  CHECK(repetitions.runs() == 0);  // not known
  // The last five of nine are the first steady ones: 420, 400, 400, 400, 400.
  CHECK(run_rounds(rig, repetitions, {1000, 800, 600, 500, 420, 400}) == 10);
  for (const Measurement& measurement : rig.measurements) {
    CHECK(measurement.samples.size() == 6);
    CHECK(measurement.samples.front().run == 5);
    CHECK(rounded(measurement.earlier_rounds) == std::vector<double>{1000, 800, 600, 500});
    CHECK(rounded(main_rates(measurement)) == std::vector<double>{420, 400, 400, 400, 400, 400});
  }
}

TEST_CASE("a drive that is steady from the start needs no more rounds than repetitions") {
  Rig rig;
  Repetitions repetitions(7, std::nullopt, rig.clock(), std::identity(), true);
  CHECK(run_rounds(rig, repetitions, {100}) == 7);
  CHECK(rig.measurements[0].samples.size() == 7);
  CHECK(rig.measurements[0].earlier_rounds.empty());
  Rig few;
  Repetitions one(1, std::nullopt, few.clock(), std::identity(), true);
  CHECK(run_rounds(few, one, {100}) == 5);
}

TEST_CASE("without a steady state, 25 rounds are measured and the last ones kept") {
  Rig rig;
  Repetitions repetitions(6, std::nullopt, rig.clock(), std::identity(), true);
  std::vector<double> rates;
  for (int i = 0; i < 30; ++i) rates.push_back(i % 2 == 0 ? 100 : 200);
  CHECK(run_rounds(rig, repetitions, rates) == 25);
  CHECK(rig.measurements[0].samples.size() == 6);
  CHECK(rig.measurements[0].earlier_rounds.size() == 19);
}

TEST_CASE("every measurement must be steady in the same rounds") {
  Rig rig;
  Repetitions repetitions(5, std::nullopt, rig.clock(), std::identity(), true);
  while (repetitions.next(rig.list())) {
    rig.measure(1, 1);
    Sample& other = rig.measurements[1].samples.back();
    other.elapsed_s = other.durable_s = repetitions.run() < 7 ? 0.1 * repetitions.run() : 1;
  }
  CHECK(repetitions.run() == 11);
  CHECK(rig.measurements[0].earlier_rounds.size() == 6);
  CHECK(rig.measurements[1].earlier_rounds.size() == 6);
}

TEST_CASE("automatic repetitions begin with the steady state") {
  Rig rig;
  Repetitions repetitions(3, AutoRuns{.least = 6, .most = 8}, rig.clock(), std::identity(), true);
  CHECK(run_rounds(rig, repetitions, {1000, 500, 100}) == 8);
  CHECK(rig.measurements[0].samples.size() == 6);
  CHECK(rig.ended() == "precise");
}

}  // namespace
}  // namespace filereel
