#include "replay/compare/comparison.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include "replay/compare/comparison_formats.h"
#include "replay/json.h"
#include "replay/results/file_systems.h"
#include "replay/results/hidden_serials.h"
#include "replay/results/packed.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// `count` runs that take `seconds`, more or less.
Measurement runs_of(const std::string& operation, double seconds, std::size_t count,
                    std::uint64_t seed, double noise = 0.01) {
  Measurement measurement = measurement_of("iso", operation, "ext4", "kernel");
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(1, noise);
  for (std::size_t run = 1; run <= count; ++run) {
    const double durable_s = seconds * normal(random);
    Sample& sample = measurement.samples.emplace_back(
        sample_of(static_cast<std::uint32_t>(run), durable_s / 2, durable_s, 800'000'000, 3));
    sample.started_s = 100 * static_cast<double>(run);
  }
  return measurement;
}

// All results are of one session, so that they were measured in turns.
Result result_with(std::vector<Measurement> measurements) {
  Result result = sample_result();
  result.session = "one";
  result.label = "drive";
  result.measurements = std::move(measurements);
  return result;
}

ResultComparison compare(const Result& base, const Result& fresh, CompareOptions options = {}) {
  return compare_results({&base, 1}, {&fresh, 1}, options);
}

ComparedMeasurement compare_one(Measurement base, Measurement fresh) {
  const ResultComparison comparison =
      compare(result_with({std::move(base)}), result_with({std::move(fresh)}));
  REQUIRE(comparison.measurements.size() == 1);
  return comparison.measurements.front();
}

// The same of two sessions on a virtual machine.
ComparedMeasurement compare_sessions(Measurement base, Measurement fresh) {
  const Result before = result_with({std::move(base)});
  Result after = result_with({std::move(fresh)});
  after.session = "other";
  return compare(before, after).measurements.at(0);
}

const Warning* warning(const ResultComparison& comparison, const std::string& code) {
  for (const Warning& one : comparison.warnings) {
    if (one.code == code) return &one;
  }
  return nullptr;
}

TEST_CASE("a longer time is slower, and one measurement decides the whole") {
  const Result base = result_with({runs_of("create", 2, 10, 1), runs_of("read", 1, 10, 2)});
  const Result fresh = result_with({runs_of("create", 2, 10, 3), runs_of("read", 1.05, 10, 4)});
  const ResultComparison comparison = compare(base, fresh);
  CHECK(comparison.measurements[0].verdict == Verdict::same);
  const ComparedMeasurement& read = comparison.measurements[1];
  CHECK(read.verdict == Verdict::slower);
  CHECK(read.time.ratio == doctest::Approx(1.05).epsilon(0.01));
  REQUIRE(read.time.ratio_interval);
  CHECK(read.time.ratio_interval->low < read.time.ratio);
  CHECK(read.time.ratio < read.time.ratio_interval->high);
  CHECK(*read.time.p_holm >= *read.time.p);
  CHECK(comparison.measurements[0].figure == Figure::durable);
  CHECK(read.figure == Figure::elapsed);  // nothing to make durable
  CHECK(comparison.regressed());
  CHECK(compare(fresh, base).overall == Verdict::faster);
  CHECK_FALSE(compare(fresh, base).regressed());
}

TEST_CASE("a change below the threshold is no regression") {
  const Result base = result_with({runs_of("create", 2, 20, 1, 0.001)});
  const Result fresh = result_with({runs_of("create", 2.02, 20, 2, 0.001)});
  CHECK(compare(base, fresh).overall == Verdict::same);
  CHECK(compare(base, fresh, {.threshold = 0.005}).overall == Verdict::slower);
}

TEST_CASE("a change within chance is undecided, and more runs are advised") {
  const auto noisy =
      compare_one(runs_of("create", 2, 10, 1, 0.2), runs_of("create", 2.1, 10, 2, 0.2));
  CHECK(noisy.verdict == Verdict::cannot_tell);
  CHECK(noisy.reason().contains("the change is between"));
  REQUIRE(noisy.more_runs);
  CHECK(*noisy.more_runs > 20);
  const auto few = compare_one(runs_of("create", 2, 2, 1), runs_of("create", 3, 2, 2));
  CHECK(few.verdict == Verdict::cannot_tell);
  CHECK(few.reason() == "too few runs");
  CHECK(few.more_runs == 2);  // four are the least at 1 %
}

TEST_CASE("a side that drifts as far explains the difference") {
  Measurement base = runs_of("create", 2, 10, 1), fresh = runs_of("create", 5, 10, 2);
  REQUIRE(compare_sessions(base, fresh).verdict == Verdict::slower);
  for (std::size_t run = 0; run < 10; ++run) fresh.samples[run].durable_s = run < 5 ? 2.1 : 7;
  const auto moved = compare_sessions(base, fresh);
  CHECK(moved.verdict == Verdict::cannot_tell);
  CHECK(moved.reason().contains("the new result drifts by"));
}

TEST_CASE("a machine that is busier on the slower side explains the difference") {
  Measurement base = runs_of("create", 2, 10, 1), fresh = runs_of("create", 2.2, 10, 2);
  for (Sample& sample : base.samples) sample.conditions.other_cpu = 0.02;
  CHECK(compare_sessions(base, fresh).reason().contains("sessions may differ"));  // unknown of new
  for (Sample& sample : fresh.samples) sample.conditions.other_cpu = 0.3;
  CHECK(compare_sessions(base, fresh).verdict == Verdict::cannot_tell);
  CHECK_FALSE(compare_sessions(base, fresh).indicated());
  CHECK(compare_sessions(base, fresh).reason().contains("other programs used 2 % of the CPU time"));
  CHECK_FALSE(compare_sessions(fresh, base).indicated());
  CHECK(compare_one(base, fresh).verdict == Verdict::slower);  // in turns
}

TEST_CASE("slower although the machine was less busy is slower") {
  Measurement base = runs_of("create", 2, 10, 1), fresh = runs_of("create", 5, 10, 2);
  for (Sample& sample : base.samples) sample.conditions.other_cpu = 0.3;
  for (Sample& sample : fresh.samples) sample.conditions.other_cpu = 0.02;
  CHECK(compare_sessions(base, fresh).verdict == Verdict::slower);
}

TEST_CASE("failed samples and copies without data are not compared") {
  Measurement base = runs_of("create", 2, 12, 1), fresh = runs_of("create", 2, 12, 2);
  fresh.samples[0].divergences = 1;
  fresh.samples[1].durable_s = 0;
  const auto row = compare_one(base, fresh);
  CHECK(row.fresh.samples == 10);
  CHECK(row.fresh.left_out == 2);
  CHECK(row.base.left_out == 0);
  for (Sample& sample : fresh.samples) sample.moved_no_data = true;
  const auto copies = compare_one(base, fresh);
  CHECK(copies.verdict == Verdict::cannot_tell);
  CHECK(copies.reason().contains("moved no data"));
  CHECK_FALSE(copies.time.p);
  for (Sample& sample : fresh.samples) sample.moved_no_data = false;
  for (Sample& sample : fresh.samples) sample.divergences = 1;
  CHECK(compare_one(base, fresh).reason().contains("no new run succeeded"));
}

TEST_CASE("different work is not compared") {
  Measurement base = runs_of("create", 2, 10, 1), fresh = runs_of("create", 3, 10, 2);
  fresh.samples[4].files = 4;
  const auto row = compare_one(base, fresh);
  CHECK(row.verdict == Verdict::cannot_tell);
  CHECK(row.reason().contains("different work"));
  const Result before = result_with({runs_of("create", 2, 10, 1)});
  Result after = result_with({runs_of("create", 3, 10, 2)});
  after.plan.jobs[0].scale = 0.25;
  CHECK(compare(before, after)
            .measurements[0]
            .reason()
            .contains("different scales: 0.5 versus 0.25"));
}

TEST_CASE("direct I/O is not compared with the page cache in its place") {
  Measurement base = runs_of("create", 2, 10, 1), fresh = runs_of("create", 2, 10, 2);
  fresh.without_direct_io = true;
  CHECK(compare_one(base, fresh).comparable);  // unknown in an older result
  base.without_direct_io = false;
  const auto row = compare_one(base, fresh);
  CHECK_FALSE(row.comparable);
  CHECK(row.reason() == "direct I/O in some results, the page cache in others");
  base.without_direct_io = true;
  CHECK(compare_one(base, fresh).comparable);
}

Measurement phase(double elapsed_s, double operations_per_s, std::uint64_t seed, double noise) {
  Measurement measurement = measurement_of("", "read", "ext4", "kernel");
  measurement.kind = JobKind::workload;
  measurement.workload = "random-read";
  measurement.parameters = {{"block", "4 KiB"}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (std::uint32_t run = 1; run <= 10; ++run) {
    Sample sample = sample_of(run, elapsed_s, elapsed_s + 1, 0, 1);
    sample.started_s = 100 * run;
    const double factor = 1 + noise * normal(random);
    sample.operations = static_cast<std::uint64_t>(elapsed_s * operations_per_s * factor);
    sample.bytes = sample.operations * 4096;
    sample.latency["read"].count = 1;  // too few for a tail
    measurement.samples.push_back(sample);
  }
  return measurement;
}

TEST_CASE("time-limited phases are compared by their rates") {
  const auto row = compare_one(phase(10, 5000, 1, 0.01), phase(10, 4500, 2, 0.01));
  CHECK(row.figure == Figure::per_operation);
  REQUIRE(row.base.operations_per_s);  // as tables of results have it
  CHECK(*row.base.operations_per_s == doctest::Approx(5000).epsilon(0.02));
  CHECK(*row.fresh.operations_per_s == doctest::Approx(4500).epsilon(0.02));
  CHECK(row.verdict == Verdict::slower);
  CHECK(row.time.ratio == doctest::Approx(1 / 0.9).epsilon(0.02));
  CHECK(row.base.median == doctest::Approx(1.0 / 5000).epsilon(0.02));
}

TEST_CASE("phases of fixed work are compared by elapsed time") {
  const auto row = compare_one(phase(10, 5000, 1, 0), phase(10, 5000, 2, 0));
  CHECK(row.figure == Figure::elapsed);
  CHECK(row.verdict == Verdict::same);
  Measurement some = phase(10, 5000, 1, 0), more = phase(15, 5000, 2, 0);
  CHECK(compare_one(some, more).verdict == Verdict::same);  // per operation: nobody says what ends
  some.ends = more.ends = PhaseEnd::work;
  CHECK(compare_one(some, more).reason().contains("different work"));
  more.ends = PhaseEnd::time;
  CHECK(compare_one(some, more).reason() ==
        "different work: the base phase ends by work, the new phase by time");
  Measurement large = phase(10, 5000, 1, 0.01);
  for (Sample& sample : large.samples) sample.bytes *= 2;
  CHECK(compare_one(phase(10, 5000, 1, 0.01), large).reason() ==
        "different sizes of operations, on average: 4.1 kB versus 8.19 kB");
}

TEST_CASE("a phase with a time limit that no run reached is compared like fixed work") {
  Measurement base = phase(10, 5000, 1, 0), fresh = phase(10, 5000, 2, 0);
  base.ends = fresh.ends = PhaseEnd::time;
  CHECK(compare_one(base, fresh).figure == Figure::elapsed);
  for (Sample& sample : fresh.samples) --sample.operations;
  CHECK(compare_one(base, fresh).figure == Figure::per_operation);
}

// Nine in ten operations take half the time, and how long a phase lasts is left to the last one.
TEST_CASE("a slower time-limited phase is not different work") {
  Measurement base = phase(0.5, 6900, 1, 0.02), fresh = phase(0.5, 2900, 2, 0.05);
  for (Sample& sample : fresh.samples) sample.elapsed_s += 0.02 * sample.run;
  base.ends = fresh.ends = PhaseEnd::time;
  const auto row = compare_one(base, fresh);
  CHECK(row.figure == Figure::per_operation);
  CHECK(row.verdict == Verdict::slower);
  CHECK(row.time.ratio > 2.3);
}

TEST_CASE("random sizes of a mix are not different work") {
  Measurement base = phase(10, 500, 1, 0.01), fresh = phase(10, 100, 2, 0.01);
  base.ends = fresh.ends = PhaseEnd::time;
  for (Measurement* measurement : {&base, &fresh}) {
    for (Sample& sample : measurement->samples)
      sample.bytes += sample.bytes / 20 * (sample.run % 3);
  }
  fresh.samples.erase(fresh.samples.begin(), fresh.samples.begin() + 2);
  CHECK(compare_one(base, fresh).verdict == Verdict::slower);
}

// Ten runs whose reads take 100 to 200 us, but for `stalls` of `stall_ns` in each.
Measurement reads_with(std::uint64_t stalls, std::uint64_t stall_ns, std::uint64_t seed,
                       std::uint64_t usual_ns = 100'000) {
  constexpr std::uint64_t kReads = 20'000;
  Measurement measurement = phase(10, 2000, seed, 0.01);
  measurement.ends = PhaseEnd::time;
  std::mt19937_64 random(seed);
  for (Sample& sample : measurement.samples) {
    Histogram histogram;
    for (std::uint64_t i = stalls; i < kReads; ++i)
      histogram.record(usual_ns + random() % usual_ns);
    for (std::uint64_t i = 0; i < stalls; ++i) histogram.record(stall_ns + random() % 1000);
    LatencySummary& reads = sample.latency["read"];
    reads.count = histogram.count();
    reads.max_us = static_cast<double>(histogram.max()) / 1e3;
    reads.total_us = static_cast<double>(histogram.total()) / 1e3;
    reads.histogram = pack_histogram(histogram);
  }
  return measurement;
}

TEST_CASE("stalls are a regression even if the time is the same") {
  const auto row = compare_one(reads_with(0, 0, 1), reads_with(4, 200'000'000, 2));
  CHECK(row.time.verdict == Verdict::same);
  CHECK(row.verdict == Verdict::slower);
  CHECK(row.aspect == Aspect::stalls);
  CHECK(verdict_text(row) == "slower (stalls)");
  REQUIRE(row.stalls);
  CHECK(row.stalls->threshold_us == 10'000);
  CHECK(row.stalls->fresh.stalls == 40);
  CHECK(row.stalls->fresh.operations == 200'000);
  CHECK(row.stalls->base.stalls == 0);
  CHECK(row.evidence.starts_with("40 stalls over 10 ms in 10 runs (0.02 % of operations, "));
  CHECK(row.evidence.contains(", 0 before"));
  const auto back = compare_one(reads_with(4, 200'000'000, 2), reads_with(0, 0, 1));
  CHECK(verdict_text(back) == "faster (stalls)");
}

TEST_CASE("a longer tail is a regression even without stalls and with the same time") {
  const auto row = compare_one(reads_with(40, 1'000'000, 1), reads_with(40, 2'000'000, 2));
  CHECK(verdict_text(row) == "slower (tail)");
  REQUIRE(row.tail);
  CHECK(row.tail->kind == "read");
  CHECK(row.tail->percentile == 99.9);
  CHECK(row.tail->answer.ratio == doctest::Approx(2).epsilon(0.01));
  CHECK(row.evidence == "p99.9 of read 2 ms, 1 ms before");
  REQUIRE(row.stalls);
  CHECK(row.stalls->answer.verdict == Verdict::same);
}

TEST_CASE("stalls that the base also has are not a regression") {
  const auto row = compare_one(reads_with(40, 30'000'000, 1), reads_with(40, 30'000'000, 2));
  CHECK(row.verdict == Verdict::same);
  REQUIRE(row.stalls);
  CHECK(row.stalls->base.stalls == 400);
  CHECK(row.stalls->fresh.stalls == 400);
  CHECK(row.stalls->answer.verdict == Verdict::same);
}

TEST_CASE("the stall threshold can be set") {
  const Result base = result_with({reads_with(0, 0, 1)});
  const Result fresh = result_with({reads_with(10, 3'000'000, 2)});
  CHECK(compare(base, fresh).measurements[0].stalls->fresh.stalls == 0);
  const auto row = compare(base, fresh, {.stall_ns = 2'000'000}).measurements[0];
  CHECK(row.stalls->fresh.stalls == 100);
  CHECK(row.stalls->threshold_us == 2000);
}

TEST_CASE("a side with varying stalls explains them") {
  Measurement fresh = reads_with(4, 200'000'000, 2);
  const Measurement calm = reads_with(1, 200'000'000, 3);
  for (std::size_t run = 0; run < 5; ++run) fresh.samples[run].latency = calm.samples[run].latency;
  const auto row = compare_one(reads_with(0, 0, 1), fresh);
  CHECK(row.stalls->answer.verdict == Verdict::slower);
  const auto moved = compare_sessions(reads_with(1, 200'000'000, 4), fresh);
  CHECK(moved.stalls->answer.verdict == Verdict::cannot_tell);
}

TEST_CASE("waiting for a CPU explains short stalls but not long ones") {
  const auto busy = [](Measurement measurement) {
    for (Sample& sample : measurement.samples) sample.conditions.other_cpu = 0.4;
    return measurement;
  };
  const auto calm = [](Measurement one) {
    for (Sample& sample : one.samples) sample.conditions.other_cpu = 0.0;
    return one;
  };
  const auto stalls_of = [&](std::uint64_t ns) {
    return compare_sessions(calm(reads_with(0, 0, 1)), busy(reads_with(9, ns, 2)))
        .stalls->answer.verdict;
  };
  CHECK(stalls_of(20'000'000) == Verdict::cannot_tell);
  CHECK(stalls_of(200'000'000) == Verdict::slower);
}

TEST_CASE("CPU use by others explains at most its share") {
  Measurement base = runs_of("create", 2, 10, 1), fresh = runs_of("create", 9.86, 10, 2);
  for (Sample& sample : base.samples) sample.conditions.other_cpu = 0.0;
  for (Sample& sample : fresh.samples) sample.conditions.other_cpu = 0.5;
  CHECK(compare_sessions(base, fresh).verdict == Verdict::slower);  // half is left: twice at most
  for (Sample& sample : fresh.samples) sample.conditions.other_cpu = 0.85;
  const auto row = compare_sessions(base, fresh);
  CHECK(row.verdict == Verdict::cannot_tell);
  CHECK(row.reason().contains("which can explain up to +566.7 %"));
}

// A measurement of each operation; their times vary by `noise`.
std::vector<Measurement> many_of(const std::vector<std::string>& operations, double seconds,
                                 std::size_t count, std::uint64_t seed, double noise) {
  std::vector<Measurement> list;
  for (const std::string& operation : operations) {
    list.push_back(runs_of(operation, seconds, count, seed * 10 + list.size(), noise));
  }
  return list;
}

TEST_CASE(
    "what the interval shows but the correction does not is indicated, and more runs decide") {
  const std::vector<std::string> operations = {"create", "read", "copy-near", "delete"};
  std::size_t indicated = 0, decided = 0, measured = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const ResultComparison few =
        compare(result_with(many_of(operations, 2, 4, seed, 0.04)),
                result_with(many_of(operations, 2.4, 4, seed + 500, 0.04)));
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const ComparedMeasurement& row = few.measurements[i];
      if (!row.indicated()) continue;
      ++indicated;
      CHECK(row.verdict == Verdict::cannot_tell);
      CHECK(row.time.ratio_interval->low > 1.02);
      CHECK(verdict_text(row) == "slower indicated");
      REQUIRE(row.more_runs);
      if (*row.more_runs > 20) continue;  // estimated from runs that vary by chance
      ++measured;
      const std::size_t runs = 4 + *row.more_runs;
      const ResultComparison enough =
          compare(result_with(many_of(operations, 2, runs, seed, 0.04)),
                  result_with(many_of(operations, 2.4, runs, seed + 500, 0.04)));
      decided += enough.measurements[i].verdict == Verdict::slower ? 1 : 0;
    }
  }
  CHECK(indicated > 20);
  CHECK(decided * 10 > measured * 7);
}

TEST_CASE("what is only indicated is no regression") {
  const std::vector<std::string> operations = {"create", "read", "copy-near", "delete"};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const ResultComparison comparison =
        compare(result_with(many_of(operations, 2, 3, seed, 0.04)),
                result_with(many_of(operations, 2.4, 3, seed + 500, 0.04)));
    if (comparison.indicated() == 0 || comparison.count(Verdict::slower) > 0) continue;
    CHECK_FALSE(comparison.regressed());
    CHECK(comparison.undecided());
    return;
  }
  FAIL("nothing was indicated");
}

TEST_CASE("sides of other scales have nothing comparable, and time-limited phases have rates") {
  Result base = result_with({runs_of("create", 2, 5, 1)});
  Result fresh = result_with({runs_of("create", 2, 5, 2)});
  CHECK(compare(base, fresh).comparable());
  fresh.plan.jobs[0].scale = 0.25;
  const ResultComparison other = compare(base, fresh);
  CHECK_FALSE(other.comparable());
  CHECK_FALSE(other.measurements[0].comparable);
  CHECK_FALSE(other.measurements[0].base.operations_per_s);
}

TEST_CASE("size classes are judged separately if all runs have several") {
  const auto mixed = [](std::uint64_t large_ns, std::uint64_t seed) {
    Measurement measurement = reads_with(0, 0, seed);
    std::mt19937_64 random(seed);
    for (Sample& sample : measurement.samples) {
      LatencySummary& reads = sample.latency["read"];
      Histogram large;
      for (int i = 0; i < 1500; ++i) large.record(large_ns + random() % large_ns);
      reads.sizes = {{4096, reads.max_us, reads.total_us, reads.histogram},
                     {65536, static_cast<double>(large.max()) / 1e3,
                      static_cast<double>(large.total()) / 1e3, pack_histogram(large)}};
      reads.histogram.clear();
    }
    return measurement;
  };
  const auto row = compare_one(mixed(300'000, 1), mixed(500'000, 2));
  REQUIRE(row.tail);
  CHECK(row.tail->kind == "read up to 64 KiB");
  CHECK(row.tail->percentile == 99);
  CHECK(verdict_text(row) == "slower (tail)");
}

TEST_CASE("runs without histograms are judged by their times alone") {
  Measurement fresh = reads_with(4, 200'000'000, 2);
  fresh.samples[3].latency["read"].histogram.clear();
  const auto row = compare_one(reads_with(0, 0, 1), fresh);
  CHECK_FALSE(row.stalls);
  CHECK_FALSE(row.tail);
  CHECK(row.verdict == Verdict::same);
}

TEST_CASE("paced replays are compared by the time in calls") {
  const auto replay = [](double in_calls_us) {
    Measurement measurement = runs_of("replay", 5, 10, 1);
    measurement.kind = JobKind::trace;
    measurement.replay = {
        .order = "resource", .pace = "natural", .engine = "blocking", .verify = "none"};
    for (Sample& sample : measurement.samples) {
      sample.reel.emplace();
      sample.latency["read"].total_us = in_calls_us * (1 + 0.001 * sample.run);
    }
    return measurement;
  };
  const auto row = compare_one(replay(1000), replay(1300));
  CHECK(row.figure == Figure::in_calls);
  CHECK(row.verdict == Verdict::slower);
  Measurement other_pace = replay(1300);
  other_pace.replay->pace = "asap";
  const ResultComparison apart = compare(result_with({replay(1000)}), result_with({other_pace}));
  CHECK(apart.measurements.empty());
  CHECK(apart.only_base.size() == 1);
  CHECK(apart.only_fresh.size() == 1);
  CHECK(warning(apart, "not-in-both"));
}

TEST_CASE("sessions directly after each other are one draw, whose runs are pooled") {
  const std::vector<Result> base = {result_with({runs_of("create", 2, 5, 1)}),
                                    result_with({runs_of("create", 2, 5, 2)})};
  const std::vector<Result> fresh = {result_with({runs_of("create", 3.2, 5, 3)}),
                                     result_with({runs_of("create", 3.2, 5, 4)})};
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.measurements[0].base.samples == 10);
  CHECK(comparison.measurements[0].indicated() == Verdict::slower);
}

TEST_CASE("false alarms are rare among many measurements") {
  int alarms = 0, found = 0;
  for (std::uint64_t round = 0; round < 100; ++round) {
    std::vector<Measurement> base, fresh;
    for (std::uint64_t i = 0; i < 30; ++i) {
      base.push_back(runs_of("step " + std::to_string(i), 2, 10, round * 1000 + i));
      fresh.push_back(runs_of("step " + std::to_string(i), 2, 10, round * 1000 + 500 + i));
    }
    alarms += compare(result_with(base), result_with(fresh)).regressed() ? 1 : 0;
    fresh[7] = runs_of("step 7", 2.1, 10, round * 1000 + 900);
    found +=
        compare(result_with(base), result_with(fresh)).measurements[7].verdict == Verdict::slower
            ? 1
            : 0;
  }
  CHECK(alarms <= 1);
  CHECK(found >= 95);
}

TEST_CASE("changes are reported, the firmware first") {
  const Result base = result_with({runs_of("create", 2, 10, 1)});
  Result fresh = base;
  CHECK(compare(base, fresh).changes.empty());
  fresh.host.kernel = "6.2.0";
  fresh.plan.jobs[0].warm = true;
  fresh.volumes[0].mount_options = "rw,noatime";
  for (DeviceIdentity* drive : {&fresh.volumes[0].drives[0], &fresh.volumes[2].drives[0]}) {
    drive->firmware = "1.08";
  }
  const ResultComparison comparison = compare(base, fresh);
  REQUIRE(comparison.changes.size() == 4);
  CHECK(comparison.changes[0].kind == ChangeKind::firmware);
  CHECK(comparison.changes[0].what == "firmware (near)");
  CHECK(comparison.changes[0].base == "1.07");
  CHECK(comparison.changes[0].fresh == "1.08");
  CHECK(comparison.changes[1].what == "mount options of ext4 (near)");
  CHECK(comparison.changes[2].what == "kernel");
  CHECK(comparison.changes[3].what == "caches");
  REQUIRE(warning(comparison, "something-else-changed"));
  CHECK(warning(comparison, "something-else-changed")->text.contains("firmware may not be"));
}

TEST_CASE(
    "another drive is what two drives are compared for, and may be what firmware is taken for") {
  const Result base = result_with({runs_of("create", 2, 10, 1)});
  Result fresh = base;
  for (VolumeDescription& volume : fresh.volumes) {
    for (DeviceIdentity& drive : volume.drives) drive.model = "Other Disk";
  }
  const ResultComparison drives = compare(base, fresh);
  REQUIRE(drives.changes.size() == 1);
  CHECK(drives.changes[0].kind == ChangeKind::drive);
  CHECK_FALSE(warning(drives, "something-else-changed"));
  fresh.host.governor = "powersave";
  const ResultComparison machines = compare(base, fresh);
  REQUIRE(warning(machines, "something-else-changed"));
  CHECK(warning(machines, "something-else-changed")->text ==
        "governor also changed: the drive may not be the cause");
  for (VolumeDescription& volume : fresh.volumes) {
    for (DeviceIdentity& drive : volume.drives) drive.firmware = "1.08";
  }
  const ResultComparison firmware = compare(base, fresh);
  REQUIRE(warning(firmware, "something-else-changed"));
  CHECK(warning(firmware, "something-else-changed")->text ==
        "model (near), governor also changed: the firmware may not be the cause");
}

// Names and values, a line each.
std::string changes_text(const Result& base, const Result& fresh) {
  std::string text;
  for (const Change& change : compare(base, fresh).changes) {
    text += change.what + ": " + change.base + " -> " + change.fresh + "\n";
  }
  return text;
}

TEST_CASE("a value that goes with a feature is a change") {
  Result base = result_with({runs_of("create", 2, 10, 1)});
  Result fresh = base;
  base.volumes[0].features = {{"features", "extent"}, {"block size", "4096"}};
  fresh.volumes[0].features = {
      {"features", "extent bigalloc"}, {"block size", "4096"}, {"cluster size", "65536"}};
  CHECK(changes_text(base, fresh) ==
        "bigalloc of ext4 (near): off -> on\ncluster size of ext4 (near): none -> 65536\n");
  base.volumes[0].features.clear();  // of an older filereel
  CHECK(changes_text(base, fresh).empty());
}

TEST_CASE("sides of one label are told apart by their starts") {
  const Result base = result_with({runs_of("create", 2, 10, 1)});
  Result fresh = base;
  fresh.started = "2026-11-01T10:00:00Z";
  const ResultComparison comparison = compare(base, fresh);
  CHECK(comparison.base_name == "drive (" + base.started + ")");
  CHECK(comparison.fresh_name == "drive (2026-11-01T10:00:00Z)");
  fresh.label = "other";
  CHECK(compare(base, fresh).base_name == "drive");
}

TEST_CASE("another build of a kernel, other microcode and other layers are changes") {
  Result base = result_with({runs_of("create", 2, 10, 1)});
  base.host.kernel_build = "#1 SMP Debian 6.1.76-1";
  base.host.microcode = "0x1";
  base.volumes.resize(1);
  Result fresh = base;
  fresh.host.kernel_build = "#1 SMP Debian 6.1.90-1";
  fresh.host.microcode = "0x2";
  fresh.volumes[0].layers = {"vg-data (LVM)", "sdb2 (partition)"};
  CHECK(changes_text(base, fresh) ==
        "layers of ext4 (near): partition 1 -> vg-data (LVM) on partition 2\n"
        "kernel build: #1 SMP Debian 6.1.76-1 -> #1 SMP Debian 6.1.90-1\n"
        "microcode: 0x1 -> 0x2\n");
  fresh = base;
  fresh.volumes[0].layers.clear();
  CHECK(changes_text(base, fresh) == "layers of ext4 (near): partition 1 -> none\n");
}

TEST_CASE("an array that is complete again, and another part of a drive, are changes") {
  Result base = sample_result(), fresh = base;
  base.volumes[0].states = {{"md0", "degraded", 1}, {"md0", "recovering", {}, 0.25}};
  fresh.volumes[0].states = {{"md0", "clean"}};
  CHECK(changes_text(base, fresh) ==
        "state of ext4 (near): md0 is degraded (1 disk missing), md0 is recovering -> md0 is "
        "clean\n");
  fresh.volumes[0].states = base.volumes[0].states;
  fresh.volumes[0].states[1].done = 0.5;
  CHECK(changes_text(base, fresh).empty());
  base.volumes[0].start = 0;
  fresh.volumes[0].start = 32ULL << 30;
  CHECK(changes_text(base, fresh) == "offset of ext4 (near): 0 B -> 32 GiB\n");
}

TEST_CASE("another kernel name of a drive does not change the layers") {
  Result base = result_with({runs_of("create", 2, 10, 1)}), fresh = base;
  for (VolumeDescription& volume : fresh.volumes) {
    if (!volume.layers.empty()) volume.layers = {"sdc1 (partition)"};
  }
  CHECK(changes_text(base, fresh).empty());
}

TEST_CASE("a serial number that one side hides is compared by its digest") {
  Result plain = result_with({runs_of("create", 2, 10, 1)});
  for (VolumeDescription& volume : plain.volumes) {
    if (!volume.drives.empty()) volume.layers = {"S123-crypt (crypt)"};
  }
  Result hidden = plain;
  std::ranges::for_each(hidden.volumes, hide_serials);
  hidden.serials_hidden = true;
  CHECK(changes_text(plain, hidden).empty());
  CHECK(changes_text(hidden, plain).empty());
  CHECK(changes_text(hidden, hidden).empty());
  for (VolumeDescription& volume : plain.volumes) {
    for (DeviceIdentity& drive : volume.drives) drive.serial = "S124";
    volume.layers.clear();
  }
  const std::string changes = changes_text(hidden, plain);
  CHECK(changes.starts_with("serial number (near): hidden-"));
  CHECK_FALSE(changes.contains("S124"));
}

TEST_CASE(
    "another share, protocol or link is a change, and a hidden share is compared by its digest") {
  Result base = result_with({runs_of("create", 2, 10, 1)});
  base.volumes = {network_volume()};
  Result fresh = base;
  fresh.serials_hidden = true;
  std::ranges::for_each(fresh.volumes, hide_serials);
  CHECK(changes_text(base, fresh).empty());
  fresh = base;
  fresh.volumes[0].network->source = "nas.example.org:/other";
  CHECK(changes_text(base, fresh) ==
        "share (near): nas.example.org:/data -> nas.example.org:/other\n");
  fresh = base;
  fresh.volumes[0].layers[1] = "eth0 100 Mbit/s";
  CHECK(changes_text(base, fresh).contains("layers"));
}

TEST_CASE("values missing in an older result are not changes") {
  const Result base = result_with({runs_of("create", 2, 10, 1)});
  Result fresh = base;
  fresh.host.clock_source.clear();
  for (VolumeDescription& volume : fresh.volumes) {
    volume.layers.clear();
    for (DeviceIdentity& drive : volume.drives) {
      drive.write_cache.clear();
      drive.logical_block = drive.physical_block = 0;
    }
  }
  CHECK(compare(base, fresh).changes.empty());
}

TEST_CASE("an incomplete result is compared as far as it goes, and marked") {
  const Result base = result_with({runs_of("create", 2, 10, 1), runs_of("read", 1, 10, 2)});
  Result fresh = result_with({runs_of("create", 2, 7, 3)});
  fresh.complete = false;
  const ResultComparison comparison = compare(base, fresh);
  CHECK_FALSE(comparison.complete);
  CHECK(warning(comparison, "incomplete"));
  REQUIRE(comparison.measurements.size() == 1);
  CHECK(comparison.measurements[0].fresh.samples == 7);
  CHECK(comparison.only_base.size() == 1);
}

TEST_CASE("results without common measurements have no comparison") {
  const ResultComparison comparison = compare(result_with({}), result_with({}));
  CHECK(comparison.overall == Verdict::cannot_tell);
  CHECK(comparison_to_json(comparison).ends_with("}\n"));
}

TEST_CASE("the JSON says what the comparison says") {
  const Result base = result_with({runs_of("create", 2, 10, 1), runs_of("read", 1, 2, 2)});
  const Result fresh = result_with({runs_of("create", 2.2, 10, 3), runs_of("read", 1, 2, 4)});
  const ResultComparison comparison = compare(base, fresh);
  const auto json = Json::parse(comparison_to_json(comparison));
  CHECK(json["schema_version"] == 1);
  CHECK(json["overall"] == "slower");
  CHECK(json["counts"]["slower"] == 1);
  CHECK(json["counts"]["cannot tell"] == 1);
  CHECK(json["measurements"][0]["ratio"].get<double>() ==
        doctest::Approx(comparison.measurements[0].time.ratio));
  CHECK(json["measurements"][0]["new"]["median_s"] == comparison.measurements[0].fresh.median);
  CHECK(json["measurements"][1]["runs_needed"] == *comparison.measurements[1].more_runs + 2);
  CHECK_FALSE(json["measurements"][1].contains("ratio_interval_95"));
}

TEST_CASE("JUnit fails slower cases and skips undecided ones, with any names") {
  const std::string name = "a<b>&\"c\"\x01\xff ü";
  Measurement slow = runs_of("create", 2.2, 10, 3), quick = runs_of("create", 2, 10, 1);
  slow.set = quick.set = name;
  const ResultComparison comparison =
      compare(result_with({quick, runs_of("read", 1, 2, 2), runs_of("delete", 1, 2, 2)}),
              result_with({slow, runs_of("read", 1, 2, 4)}));
  pugi::xml_document document;
  REQUIRE(document.load_string(comparison_to_junit(comparison).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  CHECK(suite.attribute("tests").as_int() == 3);
  CHECK(suite.attribute("failures").as_int() == 1);
  CHECK(suite.attribute("skipped").as_int() == 2);
  const pugi::xml_node test = suite.child("testcase");
  CHECK(std::string(test.attribute("name").value()) == "a<b>&\"c\"\\x01\\xff ü create ext4");
  CHECK(std::string_view(test.child("failure").attribute("message").value())
            .contains("% time until durable"));
  CHECK(suite.find_child_by_attribute("testcase", "name", "iso read ext4").child("skipped"));
}

// The same on one file system.
Result on(const std::string& file_system, Measurement measurement) {
  measurement.file_system = file_system;
  Result result = result_with({std::move(measurement)});
  result.volumes = {volume_of(Role::near, file_system, "kernel")};
  return result;
}

TEST_CASE("results of one file system each are compared across them") {
  const Result base = on("ext4", runs_of("create", 2, 10, 1));
  Result fresh = on("xfs", runs_of("create", 3, 10, 2));
  fresh.volumes.front().mount_options = "rw,attr2";
  const ResultComparison comparison = compare(base, fresh);
  REQUIRE(comparison.measurements.size() == 1);
  CHECK(comparison.measurements.front().verdict == Verdict::slower);
  CHECK(key_text(comparison.measurements.front().key) == "fc-test iso create");
  REQUIRE(comparison.across);
  CHECK(comparison.across->fresh == "xfs");
  CHECK(comparison.base_name == "drive on ext4");
  REQUIRE(comparison.changes.size() == 2);
  CHECK(comparison.changes[0].kind == ChangeKind::file_system);
  CHECK(comparison.changes[0].what == "file system");
  CHECK(comparison.changes[0].base == "ext4");
  CHECK(comparison.changes[1].what == "mount options (near)");
  CHECK(comparison.warnings.empty());  // mount options belong to the file system
  const Json json = Json::parse(comparison_to_json(comparison));
  CHECK(json["across"]["base"] == "ext4");
  CHECK(json["measurements"][0]["file_system"] == "");
}

TEST_CASE("with one drive, firmware and file system, nothing is said of the drive") {
  const Result base = result_with({runs_of("create", 2, 10, 1)});
  Result fresh = base;
  fresh.volumes[0].mount_options = "rw,noatime";
  CHECK_FALSE(warning(compare(base, fresh), "something-else-changed"));
  fresh.host.governor = "powersave";
  const ResultComparison both = compare(base, fresh);
  REQUIRE(warning(both, "something-else-changed"));
  CHECK(warning(both, "something-else-changed")->text ==
        "mount options of ext4 (near), governor changed: each may be the cause");
}

TEST_CASE("changes besides the file system give a warning") {
  const Result base = on("ext4", runs_of("create", 2, 10, 1));
  Result fresh = on("xfs", runs_of("create", 3, 10, 2));
  fresh.volumes.front().drives.front().serial = "S999";
  const ResultComparison comparison = compare(base, fresh);
  REQUIRE(warning(comparison, "something-else-changed"));
  CHECK(warning(comparison, "something-else-changed")->text ==
        "serial number (near) also changed: the file system may not be the cause");
}

TEST_CASE("where both sides have a file system, that one is compared") {
  Result base = on("ext4", runs_of("create", 2, 10, 1));
  const Result fresh = on("xfs", runs_of("create", 3, 10, 2));
  Measurement more = runs_of("create", 3, 10, 3);
  more.file_system = "xfs";
  base.measurements.push_back(more);
  const ResultComparison comparison = compare(base, fresh);
  CHECK_FALSE(comparison.across);
  REQUIRE(comparison.measurements.size() == 1);
  CHECK(comparison.measurements.front().key.file_system == "xfs");
  CHECK(comparison.only_base.size() == 1);
  const Result kept = only_on(base, "ext4");
  CHECK(kept.measurements.size() == 1);
  CHECK(compare(kept, fresh).across);
}

TEST_CASE("replay parameters shared by all replays are not in their names") {
  const MeasurementKey key{
      JobKind::trace, "app", "", "", "", {{"size", "1"}, {"order", "strict"}, {"pace", "asap"}}};
  MeasurementKey other = key;
  other.parameters[2].second = "natural";
  const std::vector<MeasurementKey> keys = {key, other, MeasurementKey{}};
  const Parameters shared = shared_replay(keys);
  CHECK(shared == Parameters{{"order", "strict"}});
  CHECK(key_text(key, shared) == "app size=1 pace=asap");
  CHECK(shared_replay({}).empty());
}

}  // namespace
}  // namespace filereel
