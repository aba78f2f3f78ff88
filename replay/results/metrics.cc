#include "replay/results/metrics.h"

#include <algorithm>
#include <array>
#include <vector>

#include "filesets/system/search.h"
#include "replay/results/bytes_moved.h"
#include "replay/results/client_samples.h"

namespace filereel {
namespace {

using Figure = std::optional<double>;

template <Figure SampleRates::* rate>
Figure rate_of(const MetricSource& of, const Sample& sample) {
  return rates_of(of.measurement, sample, of.until).*rate;
}

template <double Sample::* time>
Figure time_of(const MetricSource&, const Sample& sample) {
  if (has_failed(sample)) return std::nullopt;
  return sample.*time;
}

double cpu_seconds(const Sample& sample) {
  return sample.cpu_user_s + sample.cpu_system_s + sample.cpu_driver_s;
}

Figure cpu_share(const MetricSource& of, const Sample& sample) {
  if (has_failed(sample) || sample.elapsed_s <= 0 || of.result.host.cores == 0) return std::nullopt;
  return cpu_seconds(sample) / sample.elapsed_s / of.result.host.cores;
}

Figure cpu_per_1000(const MetricSource&, const Sample& sample) {
  if (has_failed(sample) || sample.operations == 0) return std::nullopt;
  return cpu_seconds(sample) / static_cast<double>(sample.operations) * 1000;
}

// Work of all clients until the first of them ended, in units a second.
template <std::uint64_t ClientsSample::* work, int unit>
Figure until_first_ended(const MetricSource&, const Sample& sample) {
  if (has_failed(sample) || !sample.clients || sample.moved_no_data) return std::nullopt;
  const ClientsSample& clients = *sample.clients;
  if (clients.*work == 0 || clients.first_ended_s <= 0) return std::nullopt;
  return static_cast<double>(clients.*work) / unit / clients.first_ended_s;
}

Figure start_skew(const MetricSource&, const Sample& sample) {
  if (has_failed(sample) || !sample.clients) return std::nullopt;
  return sample.clients->start_skew_us;
}

template <double Fairness::* share>
Figure fairness(const MetricSource&, const Sample& sample) {
  if (has_failed(sample) || !sample.clients) return std::nullopt;
  const std::optional<Fairness> all = fairness_of(*sample.clients);
  return all ? Figure((*all).*share) : std::nullopt;
}

// Of the operations of a kind; of all kinds if `kind` is empty.
template <class Get>
Figure latency_of(const Sample& sample, std::string_view kind, const Get& get) {
  if (has_failed(sample)) return std::nullopt;
  LatencySummary all;
  for (const auto& [name, latency] : sample.latency) {
    if (!kind.empty() && name != kind) continue;
    all.count += latency.count;
    all.total_us += latency.total_us;
    all.max_us = std::max(all.max_us, latency.max_us);
  }
  if (all.count == 0) return std::nullopt;
  return get(all);
}
constexpr auto kMean = [](const LatencySummary& latency) {
  return latency.total_us / static_cast<double>(latency.count);
};

Figure mean_of_all(const MetricSource&, const Sample& sample) {
  return latency_of(sample, "", kMean);
}
Figure read_mean(const MetricSource&, const Sample& sample) {
  return latency_of(sample, "read", kMean);
}
Figure write_mean(const MetricSource&, const Sample& sample) {
  return latency_of(sample, "write", kMean);
}
Figure longest(const MetricSource&, const Sample& sample) {
  return latency_of(sample, "", [](const LatencySummary& latency) { return latency.max_us; });
}

// A metric in microseconds (smaller is better): computed by sample, or a percentile (or the
// maximum) of one kind of operation.
constexpr Metric latency(std::string_view name, std::string_view title, std::string_view heading,
                         bool brief, decltype(Metric::of_sample) of_sample,
                         std::string_view kind = {},
                         double LatencySummary::* percentile = nullptr) {
  return {.name = name,
          .title = title,
          .heading = heading,
          .unit = Unit::microseconds,
          .more_is_better = false,
          .brief = brief,
          .of_sample = of_sample,
          .kind = kind,
          .percentile = percentile};
}

using L = LatencySummary;

constexpr bool kBrief = true, kFull = false;

// Of titles of rates until rate_time.
constexpr std::string_view kMixedEnd = " (writes until durable)";

constexpr auto kMetrics = std::to_array<Metric>({
    {.name = "mb_per_s",
     .title = "MB/s (writes until durable)",
     .heading = "MB/s",
     .brief = kBrief,
     .of_sample = rate_of<&SampleRates::mb_per_s>,
     .of_bytes = true},
    {.name = "read_mb_per_s",
     .title = "Read MB/s (writes until durable)",
     .heading = "read MB/s",
     .of_sample = rate_of<&SampleRates::read_mb_per_s>},
    {.name = "written_mb_per_s",
     .title = "Written MB/s until durable",
     .heading = "written MB/s",
     .of_sample = rate_of<&SampleRates::written_mb_per_s>},
    {.name = "mb_per_s_elapsed",
     .title = "MB/s until calls return",
     .heading = "MB/s (elapsed)",
     .of_sample = rate_of<&SampleRates::mb_per_s_elapsed>,
     .of_bytes = true},
    {"files_per_s", "Files/s (writes until durable)", "files/s", Unit::per_second, true, kBrief,
     rate_of<&SampleRates::files_per_s>},
    {"operations_per_s", "Operations/s until calls return", "operations/s", Unit::per_second, true,
     kBrief, rate_of<&SampleRates::operations_per_s>},
    {"transactions_per_s", "Transactions/s until calls return", "transactions/s", Unit::per_second,
     true, kBrief, rate_of<&SampleRates::transactions_per_s>},
    {"elapsed_s", "Elapsed time", "elapsed", Unit::seconds, false, kBrief,
     time_of<&Sample::elapsed_s>},
    {"durable_s", "Time until durable", "durable", Unit::seconds, false, kBrief,
     time_of<&Sample::durable_s>},
    latency("mean_us", "Mean latency", "mean", kBrief, mean_of_all),
    latency("read_mean_us", "Mean read latency", "read mean", kFull, read_mean),
    latency("read_p50_us", "Median read latency", "read p50", kBrief, nullptr, "read", &L::p50_us),
    latency("read_p99_us", "Read latency, 99th percentile", "read p99", kBrief, nullptr, "read",
            &L::p99_us),
    latency("read_p99_9_us", "Read latency, 99.9th percentile", "read p99.9", kFull, nullptr,
            "read", &L::p999_us),
    latency("read_max_us", "Maximum read latency", "read max", kFull, nullptr, "read", &L::max_us),
    latency("write_mean_us", "Mean write latency", "write mean", kFull, write_mean),
    latency("write_p50_us", "Median write latency", "write p50", kBrief, nullptr, "write",
            &L::p50_us),
    latency("write_p99_us", "Write latency, 99th percentile", "write p99", kBrief, nullptr, "write",
            &L::p99_us),
    latency("write_p99_9_us", "Write latency, 99.9th percentile", "write p99.9", kFull, nullptr,
            "write", &L::p999_us),
    latency("write_max_us", "Maximum write latency", "write max", kFull, nullptr, "write",
            &L::max_us),
    latency("fsync_p99_us", "fsync latency, 99th percentile", "fsync p99", kBrief, nullptr, "fsync",
            &L::p99_us),
    latency("fdatasync_p99_us", "fdatasync latency, 99th percentile", "fdatasync p99", kBrief,
            nullptr, "fdatasync", &L::p99_us),
    {.name = "max_us",
     .title = "Longest operation",
     .heading = "longest",
     .unit = Unit::microseconds,
     .more_is_better = false,
     .brief = kBrief,
     .of_sample = longest,
     .longest = true},
    {"cpu_share", "Processor load (share of all cores)", "CPU", Unit::share, false, kBrief,
     cpu_share},
    {"cpu_s_per_1000_operations", "CPU time per 1,000 operations", "CPU per 1000", Unit::seconds,
     false, kFull, cpu_per_1000},
    {.name = "first_ended_mb_per_s",
     .title = "MB/s until the first client ended",
     .heading = "MB/s (first ended)",
     .of_sample = until_first_ended<&ClientsSample::first_ended_bytes, 1'000'000>,
     .of_bytes = true},
    {"first_ended_operations_per_s", "Operations/s until the first client ended",
     "operations/s (first ended)", Unit::per_second, true, kFull,
     until_first_ended<&ClientsSample::first_ended_operations, 1>},
    {"slowest_to_fastest_client", "Slowest client, share of the fastest", "slowest (of fastest)",
     Unit::share, true, kFull, fairness<&Fairness::slowest_to_fastest>},
    {"jain_index", "Jain's fairness index of the clients", "fairness", Unit::share, true, kFull,
     fairness<&Fairness::jain>},
    latency("start_skew_us", "Start skew of the clients", "start skew", kFull, start_skew),
});

}  // namespace

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::mb_per_s:
      return "MB/s";
    case Unit::per_second:
      return "1/s";
    case Unit::seconds:
      return "s";
    case Unit::microseconds:
      return "us";
    case Unit::share:
      return "share";
  }
  return "";
}

bool is_rate(Unit unit) {
  return unit == Unit::mb_per_s || unit == Unit::per_second;
}

std::span<const Metric> metrics() {
  return kMetrics;
}

const Metric* find_metric(std::string_view name) {
  return find_or_null(kMetrics, name, &Metric::name);
}

Middle middle_of(const Metric& metric) {
  return is_rate(metric.unit) ? Middle::of_rates : Middle::of_times;
}

std::string title_of(const Metric& metric, std::span<const Measurement* const> measurements) {
  std::string title(metric.title);
  if (!title.ends_with(kMixedEnd)) return title;
  const auto wrote = [](const Measurement* measurement) { return has_written(*measurement); };
  const bool some = std::ranges::any_of(measurements, wrote);
  if (some && !std::ranges::all_of(measurements, wrote)) return title;
  title.resize(title.size() - kMixedEnd.size());
  return title + (some ? " until durable" : " until calls return");
}

std::optional<double> figure_of(const Metric& metric, const MetricSource& of,
                                const Sample& sample) {
  if (!metric.percentile) return metric.of_sample(of, sample);
  const auto found = sample.latency.find(std::string(metric.kind));
  if (has_failed(sample) || found == sample.latency.end() || found->second.count == 0) {
    return std::nullopt;
  }
  return found->second.*metric.percentile;
}

std::optional<Spread> spread_of(const Metric& metric, const Result& result,
                                const Measurement& measurement) {
  PooledLatencies pooled(measurement);
  return spread_of(metric, result, measurement, pooled);
}

std::optional<Spread> spread_of(const Metric& metric, const Result& result,
                                const Measurement& measurement, PooledLatencies& pooled) {
  if (metric.percentile) return pooled.spread(std::string(metric.kind), metric.percentile);
  const MetricSource of(result, measurement);
  std::vector<double> values;
  for (const Sample& sample : measurement.samples) {
    if (const Figure value = metric.of_sample(of, sample)) {
      values.push_back(*value);
    }
  }
  std::optional<Spread> spread = spread_of(values, middle_of(metric));
  if (spread && metric.longest) return Spread{spread->high, spread->low, spread->high};
  return spread;
}

const Metric* main_metric(const Result& result, const Measurement& measurement) {
  const MetricSource of(result, measurement);
  for (const std::string_view name : kMainRates) {
    const Metric* metric = find_metric(name);
    const auto has = [&](const Sample& sample) {
      return metric->of_sample(of, sample).has_value();
    };
    if (std::ranges::any_of(measurement.samples, has)) return metric;
  }
  return nullptr;
}

std::vector<const Metric*> default_metrics(std::span<const Measurement* const> measurements) {
  constexpr double kLargeAccess = 64 << 10, kLargeFile = 1e6;  // bytes
  bool small = false, large = false, files = false, small_files = false;
  bool data = false, replays = false;
  for (const Measurement* measurement : measurements) {
    if (!measurement) continue;
    replays = replays || info_of(measurement->kind).replays;
    for (const Sample& sample : measurement->samples) {
      files = files || sample.files > 0;
      data = data || sample.bytes > 0;
      const bool has_small =
          static_cast<double>(sample.bytes) < kLargeFile * static_cast<double>(sample.files);
      small_files = small_files || has_small;
      const bool is_large =
          static_cast<double>(sample.bytes) > kLargeAccess * static_cast<double>(sample.operations);
      (is_large ? large : small) = true;
    }
  }
  std::vector<const Metric*> list;
  if (replays) {
    list.push_back(find_metric("elapsed_s"));
  } else if (small_files) {
    list.push_back(find_metric("files_per_s"));
  } else if (small && !files) {
    list.push_back(find_metric("operations_per_s"));
  }
  if (!replays && data && (files || large)) list.push_back(find_metric("mb_per_s"));
  return list;
}

}  // namespace filereel
