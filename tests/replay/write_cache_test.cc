#include "replay/report/write_cache.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/random.h"
#include "replay/results/packed.h"

namespace filereel {
namespace {

// A drive with a write cache, for writes of one request after another.
class CachedDrive {
 public:
  CachedDrive(double size, double fast, double slow, double refill, std::uint64_t seed)
      : size_(size), free_(size), fast_(fast), slow_(slow), refill_(refill), random_(seed) {}

  void idle(double seconds) {
    now_ += seconds;
    free_ = std::min(size_, free_ + refill_ * seconds);
  }

  // Until the bytes are written, or the time is over; one of them is endless. The time of each
  // request varies by 20 %. `stalls`: the share of the time that stalls of 0.3 s add.
  Sample write(double bytes, double seconds, double stalls = 0) {
    constexpr double kRequest = 1 << 20, kInterval = 0.5, kStall = 0.3;
    std::vector<std::uint64_t> intervals;
    const double start = now_;
    double written = 0;
    while (written < bytes && now_ - start < seconds) {
      const double from_cache = std::min(kRequest, free_);
      free_ -= from_cache;
      const double transfer = from_cache / fast_ + (kRequest - from_cache) / slow_;
      now_ += transfer * (1 + 0.2 * normal_quantile(random_.uniform()));
      if (random_.uniform() < stalls * transfer / kStall) now_ += kStall;
      written += kRequest;
      const auto interval = static_cast<std::size_t>((now_ - start) / kInterval);
      intervals.resize(std::max(intervals.size(), interval + 1));
      intervals[interval] += static_cast<std::uint64_t>(kRequest);
    }
    Sample sample;
    sample.run = 1;
    sample.started_s = start;
    sample.elapsed_s = sample.durable_s = now_ - start;
    sample.bytes = static_cast<std::uint64_t>(written);
    intervals.pop_back();  // it is not over
    sample.rates = RateSeries{
        .interval_s = kInterval, .intervals = intervals.size(), .bytes = pack_numbers(intervals)};
    return sample;
  }

 private:
  double size_, free_, fast_, slow_, refill_, now_ = 0;
  Random random_;
};

constexpr double kEndless = 1e18;

// Uses up the cache, and writes again for so many seconds after an idle time.
struct TwoPhases {
  TwoPhases(CachedDrive& drive, double idle, double seconds) : first(drive.write(2e9, kEndless)) {
    drive.idle(idle);
    second = drive.write(kEndless, seconds);
  }
  // A required one.
  WriteCache cache() const {
    const auto found = write_cache_of(first, {{{"again", &second}}});
    REQUIRE(found);
    REQUIRE(found->recoveries.size() == 1);
    return *found;
  }

  Sample first, second;
};

double between(Random& random, double least, double most) {
  return least + (most - least) * random.uniform();
}

}  // namespace

TEST_CASE("the parameters of a write cache are found within 5 %, whatever they are") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const double size = between(random, 400e6, 2e9), fast = between(random, 150e6, 500e6);
    const double slow = fast * between(random, 0.1, 0.6), refill = between(random, 5e6, 15e6);
    CachedDrive drive(size, fast, slow, refill, seed);
    const Sample first = drive.write(size + slow * 40, kEndless);
    drive.idle(10);
    const Sample second = drive.write(kEndless, 15);
    drive.idle(25);
    const Sample third = drive.write(kEndless, 15);
    const auto cache = write_cache_of(first, {{{"after-10-s", &second}, {"after-25-s", &third}}});
    REQUIRE(cache);
    REQUIRE(cache->size);
    CHECK(cache->size->value == doctest::Approx(size).epsilon(0.05));
    REQUIRE(cache->levels.size() == 2);
    CHECK(cache->levels[0].level.mean == doctest::Approx(fast).epsilon(0.05));
    CHECK(cache->levels[1].level.mean == doctest::Approx(slow).epsilon(0.05));
    REQUIRE(cache->recoveries.size() == 2);
    CHECK(cache->recoveries[0].idle_s == doctest::Approx(10));
    CHECK(cache->recoveries[1].idle_s == doctest::Approx(25));
    REQUIRE(cache->refill);
    CHECK(cache->refill->value == doctest::Approx(refill).epsilon(0.05));
    CHECK(cache->refill->interval.low <= cache->refill->value);
    CHECK(cache->refill->interval.high >= cache->refill->value);
  }
}

TEST_CASE("no write cache is found on a constant drive") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const double rate = between(random, 30e6, 500e6);
    CachedDrive drive(0, rate, rate, 0, seed);
    const auto cache = write_cache_of(drive.write(kEndless, between(random, 6, 120), 0.02), {});
    REQUIRE(cache);
    CHECK_FALSE(cache->size);
    REQUIRE(cache->levels.size() == 1);
    CHECK_FALSE(cache->levels[0].level.drifts());
  }
}

TEST_CASE("a phase that ends before the rate falls gives a lower bound") {
  CachedDrive drive(1e9, 200e6, 40e6, 100e6, 1);
  const TwoPhases phases(drive, 20, 3);
  const WriteCache cache = phases.cache();
  CHECK(cache.recoveries[0].at_least);
  CHECK(cache.recoveries[0].bytes.value == static_cast<double>(phases.second.bytes));
  CHECK_FALSE(cache.refill);
}

TEST_CASE("what comes back is unknown if the cache was not used up before, or a phase is missing") {
  CachedDrive drive(1e9, 200e6, 40e6, 100e6, 1);
  const Sample first = drive.write(2e9, kEndless);
  drive.idle(20);
  const Sample fast = drive.write(kEndless, 3);
  drive.idle(1);
  const Sample third = drive.write(kEndless, 20);
  drive.idle(1);
  const Sample last = drive.write(kEndless, 20);
  const auto cache =
      write_cache_of(first, {{{"a", &fast}, {"b", &third}, {"c", nullptr}, {"d", &last}}});
  REQUIRE(cache);
  REQUIRE(cache->recoveries.size() == 4);
  CHECK(cache->recoveries[0].at_least);
  CHECK(cache->recoveries[1].unknown == "the cache was not used up before");
  CHECK(cache->recoveries[2].unknown == "the phase has no figures");
  CHECK(cache->recoveries[3].unknown == "the cache was not used up before");
  CHECK_FALSE(cache->refill);
}

TEST_CASE("a refill is that of the idle times with which what comes back grows") {
  CachedDrive drive(1e9, 200e6, 40e6, 10e6, 1);
  const Sample first = drive.write(2e9, kEndless);
  std::vector<Sample> samples;
  for (const double idle : {5.0, 20.0, 300.0}) {
    drive.idle(idle);
    samples.push_back(drive.write(kEndless, 20));
  }
  // The last one as if the drive gave back no more than after 40 s.
  samples.back().started_s += 1000;
  const auto cache =
      write_cache_of(first, {{{"a", &samples[0]}, {"b", &samples[1]}, {"c", &samples[2]}}});
  REQUIRE(cache);
  REQUIRE(cache->refill);
  CHECK(cache->refill->value == doctest::Approx(10e6).epsilon(0.05));
}

TEST_CASE("a stall at the start of a phase is not the end of the cache") {
  CachedDrive drive(1e9, 200e6, 40e6, 40e6, 1);
  TwoPhases phases(drive, 20, 30);
  std::vector<std::uint64_t> bytes = unpack_rates(*phases.second.rates);
  bytes[1] = bytes[2] = 0;
  phases.second.rates->bytes = pack_numbers(bytes);
  const WriteCache cache = phases.cache();
  CHECK(cache.recoveries[0].is_measured());
  CHECK(cache.recoveries[0].bytes.value > 500e6);
}

TEST_CASE("what gives nothing back, gives nothing back") {
  CachedDrive drive(1e9, 200e6, 40e6, 0, 1);
  const WriteCache cache = TwoPhases(drive, 20, 10).cache();
  CHECK(cache.recoveries[0].bytes.value < 10e6);
  CHECK_FALSE(cache.refill);
}

TEST_CASE("samples without rates, and short ones, are not analysed") {
  CachedDrive drive(1e9, 200e6, 40e6, 0, 1);
  CHECK_FALSE(write_cache_of(drive.write(kEndless, 3), {}));
  Sample without = drive.write(2e9, kEndless);
  without.rates.reset();
  CHECK_FALSE(write_cache_of(without, {}));
}

namespace {

Result result_with(std::vector<Sample> first, std::vector<Sample> second) {
  Result result;
  JobRecord job;
  job.kind = JobKind::workload;
  job.name = job.analysis = "write-cache";
  result.plan.jobs.push_back(job);
  const auto add = [&](const std::string& phase, std::vector<Sample> samples) {
    Measurement measurement;
    measurement.kind = JobKind::workload;
    measurement.workload = "write-cache";
    measurement.operation = phase;
    measurement.file_system = "ext4";
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i].run = static_cast<std::uint32_t>(i + 1);
    }
    measurement.samples = std::move(samples);
    result.measurements.push_back(std::move(measurement));
  };
  add("write", std::move(first));
  add("after-10-s", std::move(second));
  return result;
}

}  // namespace

TEST_CASE("reports show the repetition with the median size, and how many found a cache") {
  std::vector<Sample> first, second;
  for (const double size : {0.6e9, 0.4e9, 0.5e9}) {
    CachedDrive drive(size, 200e6, 40e6, 10e6, 7);
    first.push_back(drive.write(size + 1e9, kEndless));
    drive.idle(10);
    second.push_back(drive.write(kEndless, 10));
  }
  const auto reports = write_caches_of(result_with(first, second));
  REQUIRE(reports.size() == 1);
  const WriteCacheReport& report = reports[0];
  CHECK(report.subject == "write-cache, ext4");
  CHECK(report.finding == "498 MB at 200 MB/s, then 40.2 MB/s");
  REQUIRE(report.rows.size() == 5);
  CHECK(report.rows[0].what == "size");
  CHECK(report.rows[3].what == "back after 10.0 s");
  CHECK(report.rows[4].what == "refill while idle");
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].starts_with(
      "the figures are those of run 3; a write cache was found in 3 of 3 runs, of 4"));
  CHECK(report.course.size() > 10);
  CHECK(report.levels.size() == 4);
  CHECK(write_caches_of(result_with(first, second), 10).front().course.size() <= 10);
}

TEST_CASE("reports say why nothing was analysed") {
  CachedDrive drive(1e9, 200e6, 40e6, 0, 1);
  Sample sample = drive.write(2e9, kEndless);
  sample.rates.reset();
  CHECK(write_caches_of(result_with({sample}, {})).front().finding ==
        "not analysed: no run of the first phase took 5.00 s or more");
  Sample failed = sample;
  failed.conditions.stops = 1;
  CHECK(write_caches_of(result_with({failed}, {})).front().finding ==
        "not analysed: no run of the first phase is usable");
  sample.clients.emplace().each.resize(2);
  CHECK(write_caches_of(result_with({sample}, {})).front().finding ==
        "not analysed: several clients wrote at once");
  Result other = result_with({sample}, {});
  other.plan.jobs[0].analysis = "";
  CHECK(write_caches_of(other).empty());
}

}  // namespace filereel
