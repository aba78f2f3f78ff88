// A rate is known for each half second, but a change of the rate falls within one. The bytes of the
// two intervals around a change, and the rates before and after it, tell when it was. So the size
// of the cache is known much better than to half a second, and so are the few bytes that come back
// after a short idle time: with the fast rate f and the slow rate s, bytes b above the slow rate
// are b f / (f - s) bytes at the fast rate.
//
// Intervals: those of the two rates, at their ends in all combinations.
#include "replay/report/write_cache.h"

#include <algorithm>
#include <array>
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
#include "replay/statistics/levels.h"

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
  Rates rates{.interval_s = sample.rates->interval_s, .values = {}};
  std::vector<std::uint64_t> bytes = unpack_rates(*sample.rates);
  constexpr double kMost = 1e7;
  const double intervals = std::min(kMost, std::floor(sample.elapsed_s / rates.interval_s));
  // Trailing zeros are not stored; a last look may have been at the end.
  bytes.resize(static_cast<std::size_t>(intervals));
  // More than this makes the change points no better, and takes their search seconds.
  constexpr std::size_t kMostValues = 8'192;
  const std::size_t group = (bytes.size() + kMostValues - 1) / kMostValues;
  if (group == 0) return rates;
  rates.interval_s *= static_cast<double>(group);
  for (std::size_t i = 0; i + group <= bytes.size(); i += group) {
    const double sum = std::accumulate(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                                       bytes.begin() + static_cast<std::ptrdiff_t>(i + group), 0.0);
    rates.values.push_back(sum / rates.interval_s);
  }
  return rates;
}

// The least and the most of a figure for two rates at the ends of their intervals.
Estimate estimate(const std::function<double(double, double)>& figure, const Estimate& fast,
                  const Estimate& slow) {
  Estimate all{.value = figure(fast.value, slow.value)};
  all.interval = {all.value, all.value};
  for (const double f : {fast.interval.low, fast.interval.high}) {
    for (const double s : {slow.interval.low, slow.interval.high}) {
      if (f <= s) continue;
      const double value = figure(f, s);
      all.interval.low = std::min(all.interval.low, value);
      all.interval.high = std::max(all.interval.high, value);
    }
  }
  return all;
}

Estimate estimate_of(const Level& level) {
  return {level.mean, level.interval};
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
      [&](double from, double to) {
        const double until = std::clamp((near - to * time) / (from - to), 0.0, time);
        return earlier + from * until;
      },
      before, after);
}

std::vector<RateLevel> levels_in(const Rates& rates) {
  const std::vector<Level> levels = levels_of(rates.values, rates.intervals_in(kShortest_s));
  std::vector<RateLevel> list;
  double begin = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels[i];
    const double whole = rates.bytes(level.end);
    Estimate end{whole, {whole, whole}};
    if (i + 1 < levels.size()) {
      end = bytes_until(rates, level.end, estimate_of(level), estimate_of(levels[i + 1]));
    }
    list.push_back({begin, end, estimate_of(level), level.first, level.last});
    begin = end.value;
  }
  return list;
}

// The level with the first lower one after it; the last level if there is none.
std::vector<RateLevel>::const_iterator before_fall(const std::vector<RateLevel>& levels) {
  const auto falls = [](const RateLevel& level, const RateLevel& next) {
    return next.rate.value < level.rate.value;
  };
  const auto found = std::ranges::adjacent_find(levels, falls);
  return found == levels.end() ? std::prev(found) : found;
}

// What a later phase writes at the fast rate before its rate is the slow one again.
std::optional<CacheRecovery> recovery_in(const Rates& rates, Estimate fast, Estimate slow) {
  constexpr std::size_t kFewest = 4;
  const std::span<const double> values = rates.values;
  if (values.size() < kFewest) return std::nullopt;
  const double limit = slow.value + (fast.value - slow.value) / 4;
  std::size_t fell = 0;
  while (fell + 1 < values.size() && !(values[fell] < limit && values[fell + 1] < limit)) ++fell;
  CacheRecovery recovery;
  if (fell + 1 == values.size()) {
    const double bytes = rates.bytes(values.size());
    recovery.bytes = {bytes, {bytes, bytes}};
    recovery.at_least = true;
    return recovery;
  }
  // Its own rates, if there are enough values: they are better than those of an earlier phase.
  const std::span<const double> after = values.subspan(fell + 1);
  if (after.size() >= kFewest) slow = {mean(after), interval_of_mean(after)};
  if (fell >= kFewest) {
    const std::span<const double> before = values.first(fell - 1);
    fast = {mean(before), interval_of_mean(before)};
  }
  const double bytes = rates.bytes(fell + 1);
  const double time = static_cast<double>(fell + 1) * rates.interval_s;
  recovery.bytes =
      estimate([&](double f, double s) { return std::max(0.0, (bytes - s * time) * f / (f - s)); },
               fast, slow);
  return recovery;
}

std::optional<Estimate> refill_of(std::span<const CacheRecovery> recoveries, double size) {
  constexpr double kWhole = 0.95;  // of the size
  const CacheRecovery* longest = nullptr;
  for (const CacheRecovery& one : recoveries) {
    const bool tells = !one.at_least && one.bytes.interval.low > 0 && one.idle_s > 0 &&
                       one.bytes.value < kWhole * size;
    if (tells && (!longest || one.idle_s > longest->idle_s)) longest = &one;
  }
  if (!longest) return std::nullopt;
  const Estimate& bytes = longest->bytes;
  return Estimate{bytes.value / longest->idle_s,
                  {bytes.interval.low / longest->idle_s, bytes.interval.high / longest->idle_s}};
}

}  // namespace

bool RateLevel::drifts() const {
  const double larger = std::max(first, last);
  return larger > 0 && std::abs(first - last) / larger >= kLeastChange;
}

std::optional<WriteCache> write_cache_of(
    const Sample& first, std::span<const std::pair<std::string, const Sample*>> later) {
  const std::optional<Rates> rates = rates_of_sample(first);
  if (!rates || rates->values.size() < rates->intervals_in(kShortest_s)) return std::nullopt;
  WriteCache cache{
      .run = first.run, .levels = levels_in(*rates), .size = {}, .recoveries = {}, .refill = {}};
  const auto fast = before_fall(cache.levels), slow = std::next(fast);
  if (slow == cache.levels.end()) return cache;
  cache.size = fast->end_bytes;
  const Sample* last = &first;
  for (const auto& [phase, sample] : later) {
    const std::optional<Rates> own = rates_of_sample(*sample);
    std::optional<CacheRecovery> recovery;
    if (own) recovery = recovery_in(*own, fast->rate, slow->rate);
    if (recovery) {
      recovery->phase = phase;
      recovery->idle_s = std::max(0.0, sample->started_s - last->started_s - last->durable_s);
      cache.recoveries.push_back(*recovery);
    }
    last = sample;
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

std::string drift_text(const RateLevel& level) {
  return fmt::format("{} gradually from {} to {}", level.last < level.first ? "falls" : "rises",
                     rate_text(level.first), rate_text(level.last));
}

// "rate from 537 MB to 1.2 GB"; the rate of the whole phase if it has one level.
Row row_of(const RateLevel& level, bool single) {
  const std::string end = size_text(level.end_bytes.value);
  Row row = row_of(single ? fmt::format("rate of all {}", end)
                          : fmt::format("rate from {} to {}", size_text(level.begin_bytes), end),
                   level.rate, rate_text);
  if (level.drifts()) row.figure += ", " + drift_text(level);
  return row;
}

Row row_of(const CacheRecovery& recovery, double size) {
  std::string what = fmt::format("back after {}", format_duration(recovery.idle_s));
  if (recovery.at_least) {
    return {std::move(what), "at least " + size_text(recovery.bytes.value), "-"};
  }
  return row_of(std::move(what), recovery.bytes, size_text,
                fmt::format(", {}", share_text(std::min(1.0, recovery.bytes.value / size))));
}

std::string finding_of(const WriteCache& cache) {
  const RateLevel& first = cache.levels.front();
  if (!cache.size) {
    const double bytes = cache.levels.back().end_bytes.value;
    if (cache.levels.size() == 1 && !first.drifts()) {
      return fmt::format("no write cache found: {} for all {}", rate_text(first.rate.value),
                         size_text(bytes));
    }
    return fmt::format("no write cache found in {}: the rate {}", size_text(bytes),
                       cache.levels.size() == 1 ? drift_text(first) : "only rises");
  }
  const auto fast = before_fall(cache.levels);
  return fmt::format("{} at {}, then {}", size_text(cache.size->value), rate_text(fast->rate.value),
                     rate_text(std::next(fast)->rate.value));
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
      if (const Sample* const sample = sample_of_run(*phase, first.run)) {
        later.emplace_back(phase->operation, sample);
      }
    }
    if (std::optional<WriteCache> cache = write_cache_of(first, later)) {
      caches.push_back(*std::move(cache));
    }
  }
  return caches;
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
  if (phases.front()->without_direct_io.value_or(false)) {
    report.notes.emplace_back(
        "the page cache was used: its size and speed are in these figures, not only the drive's");
  }
  if (caches.size() < 2) return;
  std::vector<double> sizes;
  for (const WriteCache& cache : caches) {
    if (cache.size) sizes.push_back(cache.size->value);
  }
  std::string text =
      fmt::format("the figures are those of run {}; a write cache was found in {}",
                  typical_of(caches).run, counted_of(sizes.size(), caches.size(), "run"));
  if (sizes.size() > 1) {
    const auto [least, most] = std::ranges::minmax(sizes);
    text += fmt::format(", of {} to {}", size_text(least), size_text(most));
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
    const bool several = std::ranges::any_of(
        first.samples, [](const Sample& sample) { return sample.clients.has_value(); });
    report.finding = several ? "not analysed: several clients wrote at once"
                             : fmt::format("not analysed: no run wrote for {} or more",
                                           format_duration(kShortest_s));
    return report;
  }
  const WriteCache& typical = typical_of(caches);
  report.finding = finding_of(typical);
  report.rows = rows_of(typical);
  report.course = course_of(*sample_of_run(first, typical.run), most_points);
  for (const RateLevel& level : typical.levels) {
    report.levels.emplace_back(level.begin_bytes, level.rate.value / 1e6);
    report.levels.emplace_back(level.end_bytes.value, level.rate.value / 1e6);
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
    if (result.job_of(measurement).analysis != "write-cache" || measurement.samples.empty())
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
