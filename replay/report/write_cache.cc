// A rate is known for each half second, but a change of the rate falls within one. The bytes of the
// intervals around a change, and the rates before and after it, tell when it was. So the size
// of the cache is known much better than to half a second, and so are the few bytes that come back
// after a short idle time: with the fast rate f and the slow rate s, bytes b above the slow rate
// are b f / (f - s) bytes at the fast rate.
//
// Intervals: those of the two rates, at their ends in all combinations.
#include "replay/report/write_cache.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/report/figures.h"
#include "replay/results/packed.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

constexpr double kShortest_s = 5;  // of a level after the first; see levels_of

// The rates of a sample, in bytes per second for each interval.
struct Rates {
  double interval_s = 0;
  std::vector<double> values;

  std::size_t intervals_in(double seconds) const {
    return std::max<std::size_t>(2, static_cast<std::size_t>(std::ceil(seconds / interval_s)));
  }
  // Bytes of the first intervals.
  double bytes(std::size_t intervals) const {
    return interval_s * std::accumulate(values.begin(),
                                        values.begin() + static_cast<std::ptrdiff_t>(intervals),
                                        0.0);
  }
};

std::optional<Rates> rates_of_sample(const Sample& sample) {
  if (!sample.rates || has_failed(sample)) return std::nullopt;
  const std::vector<std::uint64_t> bytes = unpack_rates(*sample.rates);
  // More than this makes the change points no better, and their search takes seconds.
  constexpr std::size_t kMostValues = 8'192;
  const std::size_t group =
      std::max<std::size_t>(1, (bytes.size() + kMostValues - 1) / kMostValues);
  Rates rates{.interval_s = sample.rates->interval_s * static_cast<double>(group), .values = {}};
  for (std::size_t i = 0; i + group <= bytes.size(); i += group) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i);
    const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(group), 0.0);
    rates.values.push_back(sum / rates.interval_s);
  }
  return rates;
}

// A figure of the rates before and after a change, and its least and most at the ends of their
// intervals. `all`: its limits, which are its interval if the two rates are not told apart.
Estimate estimate(const std::function<double(double, double)>& figure, const Estimate& before,
                  const Estimate& after, const Interval& all) {
  const auto within = [&](double value) { return std::clamp(value, all.low, all.high); };
  const bool falls = before.value > after.value;
  Estimate found{.value = within(figure(before.value, after.value))};
  found.interval = {found.value, found.value};
  for (const double from : {before.interval.low, before.interval.high}) {
    for (const double to : {after.interval.low, after.interval.high}) {
      if (falls ? from <= to : from >= to) return {found.value, all};
      const double value = within(figure(from, to));
      found.interval.low = std::min(found.interval.low, value);
      found.interval.high = std::max(found.interval.high, value);
    }
  }
  return found;
}

// The bytes until the rate changes from one to the other, near the end of interval `change` - 1.
Estimate bytes_until(const Rates& rates, std::size_t change, const Estimate& before,
                     const Estimate& after) {
  constexpr std::size_t kNear = 2;
  const std::size_t begin = change - std::min(change, kNear);
  const std::size_t end = std::min(rates.values.size(), change + kNear);
  const double earlier = rates.bytes(begin), near = rates.bytes(end) - earlier;
  const double time = static_cast<double>(end - begin) * rates.interval_s;
  return estimate(
      [&](double from, double to) { return earlier + (near - to * time) / (from - to) * from; },
      before, after, {earlier, earlier + near});
}

// Of a phase with so many bytes.
std::vector<RateLevel> levels_in(const Rates& rates, std::uint64_t bytes) {
  std::vector<RateLevel> list;
  for (const Level& level : levels_of(rates.values, rates.intervals_in(kShortest_s))) {
    if (!list.empty()) {
      list.back().end_bytes =
          bytes_until(rates, level.begin, list.back().rate(), {level.mean, level.interval});
    }
    const double begin = list.empty() ? 0 : list.back().end_bytes.value;
    list.push_back({.begin_bytes = begin, .end_bytes = {}, .level = level});
  }
  const auto all = static_cast<double>(bytes);
  list.back().end_bytes = {all, {all, all}};
  return list;
}

// The level with the first lower one after it; the last level if there is none.
std::vector<RateLevel>::const_iterator before_fall(const std::vector<RateLevel>& levels) {
  const auto falls = [](const RateLevel& level, const RateLevel& next) {
    return next.level.mean < level.level.mean;
  };
  const auto found = std::ranges::adjacent_find(levels, falls);
  return found == levels.end() ? std::prev(found) : found;
}

// What a later phase writes at the fast rate before its rate is the slow one again. Its own rates
// are better than those of the first phase, if it has enough values. `all`: bytes of the phase.
CacheRecovery recovery_in(const Rates& rates, std::uint64_t all, Estimate fast, Estimate slow) {
  constexpr std::size_t kFewest = 4, kStart = 2;
  const double limit = (fast.value + slow.value) / 2;
  const std::vector<Level> levels = levels_of(rates.values, rates.intervals_in(kShortest_s));
  const auto slow_level =
      std::ranges::find_if(levels, [&](const Level& level) { return level.mean < limit; });
  CacheRecovery recovery;
  if (slow_level == levels.end()) {
    const auto bytes = static_cast<double>(all);
    recovery.bytes = {bytes, {bytes, bytes}};
    recovery.at_least = true;
    return recovery;
  }
  // A few bytes at the start are less than a level.
  const bool starts_slowly = slow_level == levels.begin();
  const std::size_t change = starts_slowly ? 1 : slow_level->begin;
  const std::size_t from = starts_slowly ? kStart : slow_level->begin + 1;
  if (from + kFewest <= slow_level->end) {
    const auto after = std::span(rates.values).subspan(from, slow_level->end - from);
    slow = {mean(after), interval_of_mean(after)};
  }
  if (change > kFewest) {
    const Level& before = *std::prev(slow_level);
    fast = {before.mean, before.interval};
  }
  recovery.bytes = bytes_until(rates, change, fast, slow);
  return recovery;
}

// Of the idle times up to which what comes back grows with them: later, the drive has no more to
// give back, or gives it back more slowly.
std::optional<Estimate> refill_of(std::span<const CacheRecovery> recoveries, double size) {
  constexpr double kWhole = 0.95;  // of the size
  std::optional<Estimate> refill;
  double first = 0;
  for (const CacheRecovery& one : recoveries) {
    if (!one.is_measured() || one.idle_s <= 0 || one.bytes.interval.low <= 0) continue;
    const double rate = one.bytes.value / one.idle_s;
    if (one.bytes.value >= kWhole * size || rate < first * (1 - kLeastChange)) break;
    if (first == 0) first = rate;
    refill = {rate, {one.bytes.interval.low / one.idle_s, one.bytes.interval.high / one.idle_s}};
  }
  return refill;
}

// What the phase gave back. `used_up`: whether the one before did use up the cache.
CacheRecovery recovery_after(const Sample& before, bool used_up, const std::string& phase,
                             const Sample* sample, const RateLevel& fast, const RateLevel& slow) {
  const std::optional<Rates> rates = sample ? rates_of_sample(*sample) : std::nullopt;
  constexpr double kLeast_s = 2;
  CacheRecovery recovery;
  if (!rates) {
    recovery.unknown = "the phase has no figures";
  } else if (!used_up) {
    recovery.unknown = "the cache was not used up before";
  } else if (rates->values.size() < rates->intervals_in(kLeast_s)) {
    recovery.unknown = fmt::format("the phase is shorter than {}", format_duration(kLeast_s));
  } else {
    recovery = recovery_in(*rates, sample->bytes, fast.rate(), slow.rate());
  }
  recovery.phase = phase;
  if (sample) {
    recovery.idle_s = std::max(0.0, sample->started_s - before.started_s - before.durable_s);
  }
  return recovery;
}

}  // namespace

std::optional<WriteCache> write_cache_of(
    const Sample& first, std::span<const std::pair<std::string, const Sample*>> later) {
  const std::optional<Rates> rates = rates_of_sample(first);
  if (!rates || rates->values.size() < rates->intervals_in(kShortest_s)) return std::nullopt;
  WriteCache cache{.run = first.run,
                   .levels = levels_in(*rates, first.bytes),
                   .size = {},
                   .recoveries = {},
                   .refill = {}};
  const auto fast = before_fall(cache.levels), slow = std::next(fast);
  if (slow == cache.levels.end()) return cache;
  cache.size = fast->end_bytes;
  const Sample* before = &first;
  bool used_up = cache.levels.back().level.mean < fast->level.mean;
  for (const auto& [phase, sample] : later) {
    cache.recoveries.push_back(recovery_after(*before, used_up, phase, sample, *fast, *slow));
    used_up = cache.recoveries.back().is_measured();
    if (sample) before = sample;
  }
  cache.refill = refill_of(cache.recoveries, cache.size->value);
  return cache;
}

namespace {

using Row = WriteCacheReport::Row;

std::string size_text(double bytes) {
  return format_size(static_cast<std::uint64_t>(std::llround(std::max(0.0, bytes))));
}
std::string rate_text(double bytes_per_s) {
  return format_number(bytes_per_s / 1e6) + " MB/s";
}

Row row_of(std::string what, const Estimate& estimate, std::string (*text)(double),
           std::string_view more = "") {
  const Interval& interval = estimate.interval;
  return {std::move(what), text(estimate.value) + std::string(more),
          fmt::format("{} to {}", text(interval.low), text(interval.high))};
}

std::string drift_text(const Level& level) {
  return fmt::format("{} gradually from {} to {}", level.last < level.first ? "falls" : "rises",
                     rate_text(level.first), rate_text(level.last));
}

// "rate from 537 MB to 1.2 GB"; the rate of the whole phase if it has one level.
Row row_of(const RateLevel& one, bool single) {
  const std::string end = size_text(one.end_bytes.value);
  Row row = row_of(single ? fmt::format("rate of all {}", end)
                          : fmt::format("rate from {} to {}", size_text(one.begin_bytes), end),
                   one.rate(), rate_text);
  if (one.level.drifts()) row.figure += ", " + drift_text(one.level);
  return row;
}

Row row_of(const CacheRecovery& recovery, double size) {
  std::string what = recovery.idle_s > 0
                         ? fmt::format("back after {}", format_duration(recovery.idle_s))
                         : fmt::format("back in phase {}", recovery.phase);
  if (!recovery.unknown.empty()) return {std::move(what), "unknown: " + recovery.unknown, "-"};
  if (recovery.at_least) {
    return {std::move(what), "at least " + size_text(recovery.bytes.value), "-"};
  }
  return row_of(std::move(what), recovery.bytes, size_text,
                fmt::format(", {}", share_text(std::min(1.0, recovery.bytes.value / size))));
}

std::string finding_of(const WriteCache& cache) {
  const RateLevel& first = cache.levels.front();
  if (cache.size) {
    const auto fast = before_fall(cache.levels);
    return fmt::format("{} at {}, then {}", size_text(cache.size->value),
                       rate_text(fast->level.mean), rate_text(std::next(fast)->level.mean));
  }
  const std::string all = size_text(cache.levels.back().end_bytes.value);
  if (cache.levels.size() == 1 && !first.level.drifts()) {
    return fmt::format("no write cache found: {} for all {}", rate_text(first.level.mean), all);
  }
  return fmt::format("no write cache found in {}: the rate {}", all,
                     cache.levels.size() == 1 ? drift_text(first.level) : "only rises");
}

std::vector<Row> rows_of(const WriteCache& cache) {
  std::vector<Row> rows;
  if (cache.size) rows.push_back(row_of("size", *cache.size, size_text));
  for (const RateLevel& level : cache.levels) {
    rows.push_back(row_of(level, cache.levels.size() == 1));
  }
  for (const CacheRecovery& recovery : cache.recoveries) {
    rows.push_back(row_of(recovery, cache.size->value));
  }
  if (cache.refill) rows.push_back(row_of("refill while idle", *cache.refill, rate_text));
  return rows;
}

std::vector<std::pair<double, double>> course_of(const Sample& sample, std::size_t most_points) {
  const std::optional<Rates> rates = rates_of_sample(sample);
  std::vector<std::pair<double, double>> course;
  if (!rates) return course;
  const std::size_t group =
      std::max<std::size_t>(1, (rates->values.size() + most_points - 1) / most_points);
  double bytes = 0;
  for (std::size_t i = 0; i < rates->values.size(); i += group) {
    const std::size_t count = std::min(group, rates->values.size() - i);
    const double rate = mean(std::span(rates->values).subspan(i, count));
    const double written = rate * rates->interval_s * static_cast<double>(count);
    course.emplace_back(bytes + written / 2, rate / 1e6);
    bytes += written;
  }
  return course;
}

// The measured phases of one job on one file system at one point, in their order.
using Phases = std::vector<const Measurement*>;

const Sample* sample_of_run(const Measurement& measurement, std::uint32_t run) {
  const auto found = std::ranges::find(measurement.samples, run, &Sample::run);
  return found == measurement.samples.end() ? nullptr : &*found;
}

std::vector<WriteCache> caches_of(const Phases& phases) {
  std::vector<WriteCache> caches;
  for (const Sample& first : phases.front()->samples) {
    std::vector<std::pair<std::string, const Sample*>> later;
    for (const Measurement* phase : std::span(phases).subspan(1)) {
      later.emplace_back(phase->operation, sample_of_run(*phase, first.run));
    }
    if (std::optional<WriteCache> cache = write_cache_of(first, later)) {
      caches.push_back(*std::move(cache));
    }
  }
  return caches;
}

// Why no repetition was analysed.
std::string without_analysis(const Measurement& first) {
  const bool several = std::ranges::any_of(first.samples, [](const Sample& sample) {
    return sample.clients && sample.clients->each.size() > 1;
  });
  if (several) return "not analysed: several clients wrote at once";
  if (std::ranges::all_of(first.samples, has_failed)) {
    return "not analysed: no run of the first phase is usable";
  }
  return fmt::format("not analysed: no run of the first phase took {} or more",
                     format_duration(kShortest_s));
}

// The one with the median size, or one without a cache if most are.
const WriteCache& typical_of(std::span<const WriteCache> caches) {
  std::vector<const WriteCache*> order;
  for (const WriteCache& cache : caches) order.push_back(&cache);
  std::ranges::stable_sort(
      order, {}, [](const WriteCache* cache) { return cache->size ? cache->size->value : 0; });
  return *order[(order.size() - 1) / 2];
}

void add_notes(const Phases& phases, std::span<const WriteCache> caches, WriteCacheReport& report) {
  const bool cached = std::ranges::any_of(
      phases, [](const Measurement* phase) { return phase->without_direct_io.value_or(false); });
  if (cached) {
    report.notes.emplace_back(
        "the page cache was used: its size and speed are in these figures, not only the drive's");
  }
  const std::size_t runs = phases.front()->samples.size();
  if (runs < 2) return;
  std::vector<double> sizes;
  for (const WriteCache& cache : caches) {
    if (cache.size) sizes.push_back(cache.size->value);
  }
  std::string text = fmt::format("the figures are those of run {}; a write cache was found in {}",
                                 typical_of(caches).run, counted_of(sizes.size(), runs, "run"));
  if (sizes.size() > 1) {
    const auto [least, most] = std::ranges::minmax(sizes);
    text += fmt::format(", of {} to {}", size_text(least), size_text(most));
  }
  if (caches.size() < runs) {
    text += fmt::format("; {} could not be analysed", counted(runs - caches.size(), "run"));
  }
  report.notes.push_back(std::move(text));
}

WriteCacheReport report_of(const Phases& phases, std::size_t most_points) {
  const Measurement& first = *phases.front();
  WriteCacheReport report{.subject = fmt::format("{}{}, {}", first.workload,
                                                 point_text(first.parameters), first.file_system),
                          .finding = {},
                          .rows = {},
                          .notes = {}};
  const std::vector<WriteCache> caches = caches_of(phases);
  if (caches.empty()) {
    report.finding = without_analysis(first);
    return report;
  }
  const WriteCache& typical = typical_of(caches);
  report.finding = finding_of(typical);
  report.rows = rows_of(typical);
  report.course = course_of(*sample_of_run(first, typical.run), most_points);
  for (const RateLevel& level : typical.levels) {
    report.levels.emplace_back(level.begin_bytes, level.level.mean / 1e6);
    report.levels.emplace_back(level.end_bytes.value, level.level.mean / 1e6);
  }
  add_notes(phases, caches, report);
  return report;
}

}  // namespace

std::vector<WriteCacheReport> write_caches_of(const Result& result, std::size_t most_points) {
  std::vector<WriteCacheReport> reports;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  std::vector<Phases> groups;
  for (const Measurement& measurement : result.measurements) {
    if (result.job_of(measurement).analysis != kWriteCacheAnalysis || measurement.samples.empty())
      continue;
    const auto [place, is_new] = places.try_emplace(
        {measurement.workload, measurement.file_system, point_text(measurement.parameters)},
        groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&measurement);
  }
  for (const Phases& phases : groups) reports.push_back(report_of(phases, most_points));
  return reports;
}

}  // namespace filereel
