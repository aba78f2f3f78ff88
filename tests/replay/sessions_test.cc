#include "replay/compare/sessions.h"

#include <cmath>
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "replay/compare/self_comparison.h"
#include "replay/results/result_json.h"
#include "replay/statistics/significance.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

using doctest::Approx;

// Sessions of a simulated drive. Each session, which begins `minutes` after the one before, has a
// factor of its own that the control has in part, and each run has noise.
struct SimulatedDrive {
  std::mt19937_64 random;
  double of_sessions = 0.1, noise = 0.05, shared = 1;
  double minutes = 60;
  int count = 0;
  std::string machine = "virtual";

  explicit SimulatedDrive(std::uint64_t seed) : random(seed) {}

  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(random); }

  Result session(double seconds, std::size_t runs = 8, bool with_control = false,
                 std::size_t measurements = 4) {
    Result result = begun_result();
    result.complete = true;
    result.host.machine = machine;
    result.session = std::to_string(++count);
    constexpr std::time_t kFirst = 1'767'225'600;  // 2026-01-01
    const std::time_t begun = kFirst + static_cast<std::time_t>(60 * minutes * count);
    result.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(begun));
    if (with_control) result.control.push_back(result.of_same_run());
    const double machine_part = normal(of_sessions);
    const double own = machine_part * shared + normal(of_sessions) * (1 - shared);
    for (std::size_t i = 0; i < measurements; ++i) {
      result.measurements.push_back(runs_with(i, seconds * std::exp(own), runs));
      if (with_control) {
        result.control[0].measurements.push_back(runs_with(i, std::exp(machine_part), runs));
      }
    }
    return result;
  }

  Measurement runs_with(std::size_t number, double seconds, std::size_t runs) {
    Measurement measurement =
        measurement_of("iso", "step " + std::to_string(number), "ext4", "kernel");
    for (std::uint32_t run = 1; run <= runs; ++run) {
      const double durable_s = seconds * std::exp(normal(noise));
      measurement.samples.push_back(sample_of(run, durable_s, durable_s, 1000, 3));
      measurement.samples.back().started_s = 10.0 * run;
    }
    return measurement;
  }
};

ResultComparison compare(const Result& base, const Result& fresh) {
  return compare_results({&base, 1}, {&fresh, 1});
}

// 1 if any change is shown, otherwise 0.
int changes_in(const ResultComparison& comparison) {
  return comparison.count(Verdict::slower) + comparison.count(Verdict::faster) > 0 ? 1 : 0;
}

TEST_CASE("Student's t has the values of tables") {
  CHECK(student_quantile(0.975, 4) == Approx(2.776445));
  CHECK(student_quantile(0.995, 10) == Approx(3.169273));
  CHECK(student_tail(2.776445, 4) == Approx(0.025).epsilon(1e-4));
}

TEST_CASE("two sessions of the same drive are not told apart, though their runs are") {
  SimulatedDrive drive(1);
  int alarms = 0, indicated = 0;
  for (int i = 0; i < 200; ++i) {
    const ResultComparison comparison = compare(drive.session(1), drive.session(1));
    alarms += changes_in(comparison);
    indicated += comparison.indicated() > 0 ? 1 : 0;
    CHECK(comparison.measurements[0].time.basis == Basis::assumption);
  }
  CHECK(alarms <= 4);
  CHECK(indicated <= 12);  // a difference within what sessions differ by is not
}

TEST_CASE("a change far beyond what sessions differ by is shown with one on each side") {
  SimulatedDrive drive(2);
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    found += compare(drive.session(1), drive.session(2.5)).regressed() ? 1 : 0;
  }
  CHECK(found >= 90);
}

TEST_CASE("the verdicts of sessions of a physical machine need less of a change") {
  CHECK(assumed_spread("physical", Aspect::time, 0) < assumed_spread("virtual", Aspect::time, 0));
  CHECK(assumed_spread("", Aspect::time, 0) == assumed_spread("virtual", Aspect::time, 0));
  CHECK(assumed_spread("virtual", Aspect::time, 0.5) > assumed_spread("virtual", Aspect::time, 0));
}

TEST_CASE("a control removes what the machine does to both") {
  SimulatedDrive drive(3);
  int alarms = 0, found = 0;
  for (int i = 0; i < 100; ++i) {
    const Result base = drive.session(1, 8, true), same = drive.session(1, 8, true),
                 slow = drive.session(1.3, 8, true);
    const ResultComparison comparison = compare(base, same);
    CHECK(comparison.control.used);
    CHECK(comparison.measurements[0].time.basis == Basis::control);
    alarms += changes_in(comparison);
    found += compare(base, slow).count(Verdict::slower) >= 3 ? 1 : 0;
  }
  CHECK(alarms <= 3);
  CHECK(found >= 80);
}

TEST_CASE("compare says how much the machine changed by the control") {
  SimulatedDrive drive(4);
  drive.noise = 0.01;
  drive.of_sessions = 0;
  const Result base = drive.session(1, 8, true);
  Result fresh = drive.session(1.18, 8, true);
  for (Measurement& measurement : fresh.control[0].measurements) {
    for (Sample& sample : measurement.samples) sample.durable_s *= 1.18;
  }
  const ResultComparison comparison = compare(base, fresh);
  CHECK(control_text(comparison.control) ==
        "the machine became 18 % slower between the sessions (control volume); corrected");
  CHECK(comparison.count(Verdict::slower) == 0);
  drive.noise = 0.1;
  CHECK(control_text(compare(drive.session(1, 8, true), drive.session(1, 8, true)).control)
            .contains("(control volume, not certain); corrected"));
  CHECK(control_text(compare(base, base).control) == "");  // in turns
}

TEST_CASE("a control that the volume does not follow is not used, with a warning") {
  SimulatedDrive drive(5);
  drive.noise = 0.02;
  drive.of_sessions = 0;
  const Result base = drive.session(1, 8, true);
  Result fresh = drive.session(1, 8, true);
  for (Measurement& measurement : fresh.control[0].measurements) {
    for (Sample& sample : measurement.samples) sample.durable_s *= 2;
  }
  const ResultComparison comparison = compare(base, fresh);
  CHECK_FALSE(comparison.control.used);
  CHECK(comparison.count(Verdict::faster) == 0);
  CHECK(comparison.measurements[0].time.basis == Basis::assumption);
  REQUIRE(comparison.warnings.size() == 1);
  CHECK(comparison.warnings[0].code == "control-unused");
}

TEST_CASE("controls of two kinds, and one that a side lacks, are not used") {
  SimulatedDrive drive(6);
  Result base = drive.session(1, 8, true), fresh = drive.session(1, 8, true);
  base.control[0].volumes = {volume_of(Role::near, "ext4", "kernel")};
  fresh.control[0].volumes = base.control[0].volumes;
  CHECK(compare(base, fresh).control.used);
  fresh.control[0].volumes[0].drives[0].model = "Other Disk";
  CHECK(compare(base, fresh).control.obstacle.contains("the control volumes differ"));
  fresh.control.clear();
  CHECK(compare(base, fresh).control.obstacle == "not all results have a control volume");
}

TEST_CASE("a control with a slower operation of its own is that of its measurement") {
  SimulatedDrive drive(7);
  drive.noise = 0.01;
  const Result base = drive.session(1, 8, true);
  Result fresh = drive.session(1, 8, true);
  fresh.control[0].measurements.pop_back();
  const ResultComparison comparison = compare(base, fresh);
  CHECK(comparison.measurements[2].time.basis == Basis::control);
  CHECK(comparison.measurements[3].time.basis == Basis::assumption);
}

TEST_CASE("three sessions on each side show what they differ by") {
  SimulatedDrive drive(8);
  int alarms = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<Result> base, fresh;
    for (int k = 0; k < 3; ++k) base.push_back(drive.session(1));
    for (int k = 0; k < 3; ++k) fresh.push_back(drive.session(1));
    const ResultComparison comparison = compare_results(base, fresh);
    CHECK(comparison.measurements[0].time.basis == Basis::sessions);
    alarms += changes_in(comparison);
  }
  CHECK(alarms <= 5);
}

TEST_CASE("sessions of a quiet machine show small changes") {
  SimulatedDrive drive(9);
  drive.of_sessions = 0.005;
  drive.noise = 0.01;
  std::vector<Result> base, fresh;
  for (int k = 0; k < 5; ++k) base.push_back(drive.session(1));
  for (int k = 0; k < 5; ++k) fresh.push_back(drive.session(1.05));
  CHECK(compare_results(base, fresh).count(Verdict::slower) == 4);
  CHECK(compare(base[0], fresh[0]).count(Verdict::slower) == 0);
}

TEST_CASE("earlier sessions of the volume show what sessions differ by") {
  SimulatedDrive drive(10);
  drive.of_sessions = 0.005;
  drive.noise = 0.01;
  std::vector<std::vector<Result>> earlier(2);
  for (int k = 0; k < 5; ++k) earlier[0].push_back(drive.session(1));
  for (int k = 0; k < 5; ++k) earlier[1].push_back(drive.session(3));  // with other firmware
  const Result base = drive.session(1), fresh = drive.session(1.1);
  const ResultComparison comparison = compare_results({&base, 1}, {&fresh, 1}, {}, earlier);
  CHECK(comparison.measurements[0].time.basis == Basis::history);
  CHECK(comparison.count(Verdict::slower) == 4);
  CHECK(promise_text(comparison) ==
        "at most 1 false alarm in 100 comparisons between sessions, by their spread in the "
        "history");
}

TEST_CASE("sessions of ten minutes are a single draw of the machine's state") {
  SimulatedDrive drive(11);
  drive.minutes = 1;
  std::vector<Result> base, fresh;
  for (int k = 0; k < 5; ++k) base.push_back(drive.session(1));
  for (int k = 0; k < 5; ++k) fresh.push_back(drive.session(1));
  CHECK(compare_results(base, fresh).measurements[0].time.basis == Basis::assumption);
  drive.minutes = 12;
  base.clear();
  fresh.clear();
  for (int k = 0; k < 3; ++k) base.push_back(drive.session(1));
  for (int k = 0; k < 3; ++k) fresh.push_back(drive.session(1));
  CHECK(compare_results(base, fresh).measurements[0].time.basis == Basis::sessions);
}

// Two volumes of a session, with a disturbance that slows down both in each turn.
std::pair<Result, Result> in_turns(SimulatedDrive& drive, double factor) {
  Result result = drive.session(1), other = result;
  for (std::size_t i = 0; i < result.measurements.size(); ++i) {
    for (std::size_t run = 0; run < result.measurements[i].samples.size(); ++run) {
      const double disturbance = std::exp(drive.normal(0.2));
      Sample &first = result.measurements[i].samples[run],
             &second = other.measurements[i].samples[run];
      first.durable_s *= disturbance;
      second.durable_s = first.durable_s * factor * std::exp(drive.normal(0.02));
      second.started_s += 1;
    }
  }
  return {result, other};
}

TEST_CASE("volumes in turns are compared in pairs") {
  SimulatedDrive drive(12);
  int alarms = 0, found = 0;
  for (int i = 0; i < 100; ++i) {
    const auto [base, same] = in_turns(drive, 1);
    const ResultComparison comparison = compare(base, same);
    CHECK(comparison.measurements[0].time.basis == Basis::in_turns);
    alarms += changes_in(comparison);
    const auto [before, slow] = in_turns(drive, 1.1);
    found += compare(before, slow).count(Verdict::slower) == 4 ? 1 : 0;
  }
  CHECK(alarms <= 4);
  CHECK(found >= 80);
}

TEST_CASE("sessions in turns are compared in pairs") {
  SimulatedDrive drive(18);
  drive.minutes = 1;
  drive.of_sessions = 0.01;
  std::vector<Result> base, fresh;
  for (int turn = 0; turn < 8; ++turn) {
    for (const bool first : {turn % 2 == 0, turn % 2 == 1}) {
      (first ? base : fresh).push_back(drive.session(first ? 1 : 1.1));
    }
  }
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.measurements[0].time.basis == Basis::in_turns);
  CHECK(comparison.count(Verdict::slower) == 4);
  std::swap(base[3], base[7]);  // the order of the files does not matter
  CHECK(compare_results(base, fresh).count(Verdict::slower) == 4);
  base.pop_back();
  CHECK(compare_results(base, fresh).measurements[0].time.basis == Basis::assumption);
}

TEST_CASE("two file systems of a result, one after the other, were not in turns") {
  SimulatedDrive drive(13);
  Result base = drive.session(1), fresh = base;
  for (Measurement& measurement : fresh.measurements) {
    for (Sample& sample : measurement.samples) sample.started_s += 1000;
  }
  CHECK(compare(base, fresh).measurements[0].time.basis == Basis::assumption);
}

TEST_CASE("the smallest provable change is about what is found in half of the comparisons") {
  SimulatedDrive drive(14);
  int found = 0, all = 0;
  for (int i = 0; i < 200; ++i) {
    const Result base = drive.session(1, 8, true), fresh = drive.session(1, 8, true);
    const ResultComparison calm = compare(base, fresh);
    REQUIRE(calm.measurements[0].time.provable);
    const double factor = 1 + *calm.measurements[0].time.provable;
    Result slow = fresh;
    for (Sample& sample : slow.measurements[0].samples) {
      sample.durable_s *= factor;
      sample.elapsed_s *= factor;
    }
    found += compare(base, slow).measurements[0].verdict == Verdict::slower ? 1 : 0;
    ++all;
  }
  CHECK(found > all * 3 / 10);
  CHECK(found < all * 7 / 10);
}

TEST_CASE("the provable change is a longer time unless only a shorter one is possible") {
  AspectResult answer{.ratio = 1 / 1.2, .provable = 1.0};
  CHECK(answer.provable_change() == 1.0);
  answer.ratio_interval = Interval{0.7, 1.02};
  CHECK(answer.provable_change() == 1.0);
  answer.ratio_interval = Interval{0.7, 0.9};
  CHECK(answer.provable_change() == Approx(-0.5));
  answer.verdict = Verdict::same;
  CHECK(answer.provable_change() == Approx(-0.5));
  for (const Verdict verdict : {Verdict::slower, Verdict::faster}) {
    answer.verdict = verdict;
    CHECK_FALSE(answer.provable_change());
  }
  // One proof passes its error budget to the others, so the change may be below the provable one.
  SimulatedDrive drive(18);
  const Result base = drive.session(1), fresh = drive.session(6);
  for (const ComparedMeasurement& compared : compare(base, fresh).measurements) {
    CHECK(compared.verdict == Verdict::slower);
    CHECK_FALSE(compared.time.provable_change());
  }
}

TEST_CASE("with few runs only large changes are shown, and with two none") {
  SimulatedDrive drive(15);
  const Result base = drive.session(1, 3), fresh = drive.session(3, 3);
  CHECK(compare(base, fresh).count(Verdict::slower) == 4);
  const Result two = drive.session(1, 2), slow = drive.session(30, 2);
  const ResultComparison none = compare(two, slow);
  CHECK(none.count(Verdict::cannot_tell) == 4);
  CHECK_FALSE(none.measurements[0].time.provable);
}

TEST_CASE("a volume compared with itself gives false alarms and the provable change") {
  SimulatedDrive drive(16);
  std::vector<Result> sessions;
  for (int k = 0; k < 8; ++k) sessions.push_back(drive.session(1, 8, true));
  const SelfComparison self = compare_with_itself(sessions);
  CHECK(self.sessions == 8);
  CHECK(self.comparisons == 28);
  CHECK(self.halves == 4);
  REQUIRE(self.measurements.size() == 4);
  CHECK(self.alarms <= 1);
  CHECK(self.measurements[0].spread == Approx(0.1).epsilon(0.6));
  REQUIRE(self.measurements[0].provable);
  CHECK(*self.measurements[0].provable < 0.3);
  CHECK(*self.measurements[0].provable_of_halves < *self.measurements[0].provable);
  CHECK(self.level == "between sessions, with a control volume");
}

TEST_CASE("a result with a control is read as it was written") {
  SimulatedDrive drive(17);
  const Result written = drive.session(1, 3, true);
  const std::string text = result_to_json(written);
  const Result read = result_from_json(text, "a.json");
  CHECK(result_to_json(read) == text);
  REQUIRE(read.control.size() == 1);
  CHECK(read.control[0].measurements[1].samples[2].durable_s ==
        written.control[0].measurements[1].samples[2].durable_s);
  CHECK(read.control[0].session == written.session);
  CHECK(read.started_s() == written.started_s());
}

}  // namespace
}  // namespace filereel
