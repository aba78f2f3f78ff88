#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "replay/compare/control.h"

namespace filereel {
namespace {

using doctest::Approx;

struct Noise {
  std::mt19937_64 random;

  std::vector<double> runs(double seconds, double deviation, std::size_t count = 8) {
    std::vector<double> values;
    std::normal_distribution<double> noise(0, deviation);
    for (std::size_t i = 0; i < count; ++i) values.push_back(seconds * std::exp(noise(random)));
    return values;
  }

  SideFigures side(double deviation) {
    return {.values = runs(1, deviation), .control = runs(1, deviation)};
  }
};

TEST_CASE("changes that their errors explain have no spread, and the mean by precision") {
  const std::vector<RunsChange> changes = {{0.10, 0.1}, {0.14, 0.1}, {0.12, 0.2}};
  const MachineChange machine = machine_change(changes);
  CHECK(machine.spread == 0);
  // Weights 100, 100 and 25.
  CHECK(machine.typical == Approx((10 + 14 + 3) / 225.0));
  CHECK(machine.error == Approx(1 / 15.0));
}

TEST_CASE("the spread is the moment estimate of DerSimonian and Laird") {
  const std::vector<RunsChange> changes = {{0, 0.1}, {1, 0.1}};
  // Q = 50, the weights' sum is 200, their squares' 20,000: (50 - 1) / (200 - 100).
  const MachineChange machine = machine_change(changes);
  CHECK(machine.spread * machine.spread == Approx(0.49));
  CHECK(machine.typical == Approx(0.5));
  CHECK(machine.error == Approx(0.5));  // of two values with a variance of 0.5 each
}

TEST_CASE("one measurement is corrected by its own control") {
  Noise noise{std::mt19937_64(1)};
  const SideFigures base = noise.side(0.1), fresh = noise.side(0.1);
  const std::vector<RunsChange> changes = {change_of(base.control, fresh.control)};
  const MachineChange machine = machine_change(changes);
  const CorrectedRatio alone = corrected_ratio(base, fresh, nullptr),
                       same = corrected_ratio(base, fresh, &machine);
  CHECK(same.ratio == Approx(alone.ratio));
  CHECK(same.error == Approx(alone.error));
  CHECK(same.machine == Approx(alone.machine));
}

TEST_CASE("a control without noise is taken at its word in each measurement") {
  Noise noise{std::mt19937_64(2)};
  const SideFigures base{.values = noise.runs(1, 0.1), .control = noise.runs(1, 0)};
  const SideFigures fresh{.values = noise.runs(1.5, 0.1), .control = noise.runs(1.5, 0)};
  const std::vector<RunsChange> changes = {
      change_of(base.control, fresh.control), {0, 0}, {0.1, 0}};
  const MachineChange machine = machine_change(changes);
  const CorrectedRatio corrected = corrected_ratio(base, fresh, &machine);
  CHECK(corrected.machine == Approx(std::log(1.5)));
  CHECK(corrected.ratio == Approx(corrected_ratio(base, fresh, nullptr).ratio));
}

// The machine changes all by the same; four measurements know better by how much than one.
TEST_CASE(
    "the error of a corrected ratio is what it varies by, and less than that of one control") {
  Noise noise{std::mt19937_64(3)};
  double squares = 0, plain_squares = 0, errors = 0;
  int beyond = 0;
  constexpr int kTimes = 500;
  for (int i = 0; i < kTimes; ++i) {
    std::vector<SideFigures> base, fresh;
    std::vector<RunsChange> changes;
    for (int k = 0; k < 4; ++k) {
      base.push_back(noise.side(0.1));
      fresh.push_back(noise.side(0.1));
      changes.push_back(change_of(base.back().control, fresh.back().control));
    }
    const MachineChange machine = machine_change(changes);
    const CorrectedRatio ratio = corrected_ratio(base[0], fresh[0], &machine),
                         plain = corrected_ratio(base[0], fresh[0], nullptr);
    squares += ratio.ratio * ratio.ratio;
    plain_squares += plain.ratio * plain.ratio;
    errors += ratio.error * ratio.error;
    beyond += std::abs(ratio.ratio) > 2.14 * ratio.error ? 1 : 0;  // t of 95 % with 14 degrees
  }
  CHECK(squares < 0.8 * plain_squares);
  CHECK(errors == Approx(squares).epsilon(0.25));
  CHECK(beyond < kTimes / 10);
}

}  // namespace
}  // namespace filereel
