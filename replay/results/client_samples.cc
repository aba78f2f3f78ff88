#include "replay/results/client_samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "replay/results/failures.h"
#include "replay/results/latency.h"
#include "replay/results/packed.h"

namespace filereel {
namespace {

// In whole nanoseconds: the difference of equal times is 0.
double start_of(const ClientSample& client) {
  return std::round((client.planned_s + client.late_s) * 1e9) * 1e-9;
}

// Adds what can be added.
template <class T>
void add(std::optional<T>& sum, const std::optional<T>& value) {
  if (value) sum = sum.value_or(T()) + *value;
}
template <class T, class Choose>
void choose(std::optional<T>& best, const std::optional<T>& value, const Choose& choice) {
  if (value) best = best ? choice(*best, *value) : *value;
}
constexpr auto kLargest = [](double a, double b) { return std::max(a, b); };
constexpr auto kSmallest = [](double a, double b) { return std::min(a, b); };
// Of limits, 0 is none.
constexpr auto kTightest = [](double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; };

// The latencies of one kind of operation.
LatencySummary merge(const std::vector<const LatencySummary*>& parts) {
  Histogram all;
  std::map<std::uint64_t, Histogram> sizes;  // by SizeLatency::up_to
  std::uint64_t errors = 0, bytes = 0;
  bool has_sizes = false;
  for (const LatencySummary* part : parts) {
    all.merge(histogram_of(*part));
    errors += part->errors;
    bytes += part->bytes;
    has_sizes = has_sizes || !part->sizes.empty();
    for (const SizeLatency& of_size : part->sizes)
      sizes[of_size.up_to].merge(histogram_of(of_size));
  }
  // A client with a single size class does not name it: then only all sizes together are known.
  for (const LatencySummary* summary : parts) has_sizes = has_sizes && !summary->sizes.empty();
  LatencySummary merged = summarise(all);
  merged.errors = errors;
  merged.bytes = bytes;
  if (!has_sizes) {
    merged.histogram = pack_histogram(all);
    return merged;
  }
  for (const auto& [up_to, histogram] : sizes) {
    merged.sizes.push_back({.up_to = up_to,
                            .max_us = static_cast<double>(histogram.max()) / 1e3,
                            .total_us = static_cast<double>(histogram.total()) / 1e3,
                            .histogram = pack_histogram(histogram)});
  }
  // The unlimited size is the last one.
  std::ranges::stable_sort(merged.sizes, {}, [](const SizeLatency& size) {
    return size.up_to == 0 ? UINT64_MAX : size.up_to;
  });
  return merged;
}

using Latencies = std::map<std::string, LatencySummary>;

Latencies merge(std::span<const ClientSample> clients, Latencies Sample::* member) {
  std::map<std::string, std::vector<const LatencySummary*>> parts;
  for (const ClientSample& client : clients) {
    for (const auto& [kind, latency] : client.sample.*member) parts[kind].push_back(&latency);
  }
  Latencies merged;
  for (const auto& [kind, list] : parts) merged.emplace(kind, merge(list));
  return merged;
}

std::vector<SlowRecord> slowest_of(std::span<const ClientSample> clients, double base_s) {
  std::vector<SlowRecord> all;
  std::size_t most = 0;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    most = std::max(most, clients[i].sample.slowest.size());
    for (SlowRecord record : clients[i].sample.slowest) {
      record.path = fmt::format("client-{}/{}", i, record.path);
      record.at_s += start_of(clients[i]) - base_s;
      all.push_back(std::move(record));
    }
  }
  std::ranges::stable_sort(all, std::greater{}, &SlowRecord::latency_us);
  if (all.size() > most) all.resize(most);
  return all;
}

// Of the client that waited most for its quota: the figures belong together.
void choose_throttling(const Conditions& conditions, Conditions& all) {
  if (!conditions.cpu_throttled_s) return;
  if (all.cpu_throttled_s && *conditions.cpu_throttled_s <= *all.cpu_throttled_s) return;
  all.cpu_throttled_s = conditions.cpu_throttled_s;
  all.cpu_periods = conditions.cpu_periods;
  all.cpu_throttled_periods = conditions.cpu_throttled_periods;
}

Conditions conditions_of(std::span<const ClientSample> clients) {
  Conditions all;
  std::map<std::string, std::size_t> of_host;
  for (const ClientSample& client : clients) ++of_host[client.host];
  for (const ClientSample& client : clients) {
    const Conditions& conditions = client.sample.conditions;
    if (of_host[client.host] == 1) choose(all.other_cpu, conditions.other_cpu, kLargest);
    choose(all.stolen_cpu, conditions.stolen_cpu, kLargest);
    choose(all.cpu_mhz_low, conditions.cpu_mhz_low, kSmallest);
    choose(all.cpu_mhz_high, conditions.cpu_mhz_high, kLargest);
    choose(all.idle_device_bytes_per_s, conditions.idle_device_bytes_per_s, kLargest);
    choose(all.volume_used, conditions.volume_used, kLargest);
    choose(all.cpu_quota, conditions.cpu_quota, kTightest);
    choose_throttling(conditions, all);
    choose(all.memory_limit, conditions.memory_limit, kTightest);
    choose(all.cpu_pressure, conditions.cpu_pressure, kLargest);
    choose(all.io_pressure, conditions.io_pressure, kLargest);
    choose(all.memory_pressure, conditions.memory_pressure, kLargest);
    choose(all.stops, conditions.stops, kLargest);
  }
  return all;
}

void add_tree(std::optional<TreeComparison>& all, const TreeComparison& tree, std::size_t client) {
  if (!all) all.emplace();
  all->entries += tree.entries;
  all->differences += tree.differences;
  all->left_out += tree.left_out;
  for (TreeDifference difference : tree.examples) {
    if (all->examples.size() == TreeComparison::kExamples) break;
    difference.path = fmt::format("client-{}/{}", client, difference.path);
    all->examples.push_back(std::move(difference));
  }
}

std::optional<ReelSample> reel_of(std::span<const ClientSample> clients) {
  std::optional<ReelSample> all;
  std::vector<const LatencySummary*> lateness;
  for (const ClientSample& client : clients) {
    if (!client.sample.reel) continue;
    const ReelSample& reel = *client.sample.reel;
    if (!all) all.emplace();
    all->bytes_read += reel.bytes_read;
    all->bytes_written += reel.bytes_written;
    all->bytes_copied += reel.bytes_copied;
    for (const auto& [name, count] : reel.divergences) all->divergences[name] += count;
    all->unverified += reel.unverified;
    all->refused += reel.refused;
    for (const auto& [what, count] : reel.refusals) all->refusals[what] += count;
    all->ended_early = all->ended_early || reel.ended_early;
    all->waits += reel.waits;
    if (reel.lateness) lateness.push_back(&*reel.lateness);
  }
  if (!lateness.empty()) all->lateness = merge(lateness);
  return all;
}

// Traffic of the drives of each host once: its clients see the same.
void add_traffic(std::span<const ClientSample> clients, Sample& all) {
  for (const auto member : {&Sample::device_bytes_read, &Sample::device_bytes_written}) {
    std::map<std::string, std::uint64_t> by_host;
    for (const ClientSample& client : clients) {
      const std::optional<std::uint64_t>& bytes = client.sample.*member;
      if (bytes) by_host[client.host] = std::max(by_host[client.host], *bytes);
    }
    for (const auto& [host, bytes] : by_host) add(all.*member, std::optional(bytes));
  }
}

// The share of a client's work that it had done `at_s` after its own start. Within an interval of
// the course, work counts as evenly spread.
double share_done(const ClientFigures& client, double at_s) {
  if (at_s >= client.elapsed_s) return 1;
  if (at_s <= 0) return 0;
  const ClientCourse course = unpack_client_course(client);
  const bool by_bytes = std::ranges::any_of(course.bytes, [](auto one) { return one > 0; });
  const std::vector<std::uint64_t>& work = by_bytes ? course.bytes : course.operations;
  double all = 0, done = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const double begin = static_cast<double>(i) * client.interval_s;
    const double length = std::min(client.interval_s, client.elapsed_s - begin);
    const double part = length > 0 ? std::clamp((at_s - begin) / length, 0.0, 1.0) : 0.0;
    all += static_cast<double>(work[i]);
    done += static_cast<double>(work[i]) * part;
  }
  return all > 0 ? done / all : 0;
}

ClientFigures figures_of(const ClientSample& client, double base_s) {
  const Sample& sample = client.sample;
  ClientFigures figures{.host = client.host,
                        .start_s = start_of(client) - base_s,
                        .elapsed_s = sample.elapsed_s,
                        .durable_s = sample.durable_s,
                        .bytes = sample.bytes,
                        .files = sample.files,
                        .operations = sample.operations};
  if (!sample.course) return figures;
  const TimeGrid grid = unpack_course(*sample.course);
  figures.interval_s = sample.course->interval_s;
  std::vector<std::uint64_t> bytes, operations;
  for (const TimeGrid::Interval& interval : grid.intervals()) {
    bytes.push_back(interval.bytes);
    std::uint64_t count = 0;
    for (const std::uint64_t in_bin : interval.operations) count += in_bin;
    operations.push_back(count);
  }
  figures.bytes_course = pack_numbers(bytes);
  figures.operations_course = pack_numbers(operations);
  return figures;
}

ClientsSample clients_of(std::span<const ClientSample> clients, double base_s) {
  ClientsSample all;
  double least_late = std::numeric_limits<double>::max(), most_late = 0;
  all.first_ended_s = std::numeric_limits<double>::max();
  for (const ClientSample& client : clients) {
    const ClientFigures& one = all.each.emplace_back(figures_of(client, base_s));
    least_late = std::min(least_late, client.late_s);
    most_late = std::max(most_late, client.late_s);
    all.clock_error_us = std::max(all.clock_error_us, client.clock_error_s * 1e6);
    all.first_ended_s = std::min(all.first_ended_s, one.start_s + one.elapsed_s);
  }
  all.start_skew_us = (most_late - least_late) * 1e6;
  double bytes = 0, files = 0, operations = 0;
  for (const ClientFigures& one : all.each) {
    const double share = share_done(one, all.first_ended_s - one.start_s);
    bytes += share * static_cast<double>(one.bytes);
    files += share * static_cast<double>(one.files);
    operations += share * static_cast<double>(one.operations);
  }
  all.first_ended_bytes = static_cast<std::uint64_t>(std::llround(bytes));
  all.first_ended_files = static_cast<std::uint64_t>(std::llround(files));
  all.first_ended_operations = static_cast<std::uint64_t>(std::llround(operations));
  return all;
}

}  // namespace

Sample merge_samples(std::span<const ClientSample> clients) {
  const Sample& first = clients.front().sample;
  const double base_s = start_of(std::ranges::min(clients, {}, start_of));
  Sample all;
  if (clients.size() == 1) all.rates = first.rates;
  all.run = first.run;
  all.started_s = first.started_s;
  all.cold_method = first.cold_method;
  TimeGrid grid;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const Sample& sample = clients[i].sample;
    const double later_s = start_of(clients[i]) - base_s;
    all.elapsed_s = std::max(all.elapsed_s, later_s + sample.elapsed_s);
    all.durable_s = std::max(all.durable_s, later_s + sample.durable_s);
    all.bytes += sample.bytes;
    all.files += sample.files;
    all.operations += sample.operations;
    add(all.transactions, sample.transactions);
    all.cpu_user_s += sample.cpu_user_s;
    all.cpu_system_s += sample.cpu_system_s;
    all.cpu_driver_s += sample.cpu_driver_s;
    add(all.lookup_s, sample.lookup_s);
    choose(all.cached_before, sample.cached_before, kLargest);
    all.moved_no_data = all.moved_no_data || sample.moved_no_data;
    all.divergences += sample.divergences;
    for (DivergenceExample example : sample.examples) {
      if (all.examples.size() == TreeComparison::kExamples) break;
      example.path = fmt::format("client-{}/{}", i, example.path);
      all.examples.push_back(std::move(example));
    }
    for (const FailedCalls& calls : sample.failed_calls) add_failed_calls(calls, all.failed_calls);
    if (sample.course) {
      grid.merge(unpack_course(*sample.course), static_cast<std::uint64_t>(later_s * 1e9));
    }
    if (sample.tree) add_tree(all.tree, *sample.tree, i);
  }
  all.latency = merge(clients, &Sample::latency);
  all.service = merge(clients, &Sample::service);
  all.slowest = slowest_of(clients, base_s);
  all.course = pack_course(grid);
  all.conditions = conditions_of(clients);
  all.reel = reel_of(clients);
  add_traffic(clients, all);
  all.clients = clients_of(clients, base_s);
  return all;
}

bool has_clients(const Measurement& measurement) {
  return std::ranges::any_of(measurement.samples,
                             [](const Sample& sample) { return sample.clients.has_value(); });
}

bool moves_bytes(const ClientsSample& clients) {
  return std::ranges::any_of(clients.each,
                             [](const ClientFigures& client) { return client.bytes > 0; });
}

std::vector<double> rates_of_clients(const ClientsSample& clients, bool in_bytes) {
  std::vector<double> rates;
  for (const ClientFigures& client : clients.each) {
    const auto work = static_cast<double>(in_bytes ? client.bytes : client.operations);
    rates.push_back(client.elapsed_s > 0 ? work / client.elapsed_s : 0);
  }
  return rates;
}

std::optional<Fairness> fairness_of(const ClientsSample& clients) {
  double slowest = std::numeric_limits<double>::max(), fastest = 0, sum = 0, squares = 0;
  for (const double rate : rates_of_clients(clients, moves_bytes(clients))) {
    if (rate <= 0) return std::nullopt;
    slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
    sum += rate;
    squares += rate * rate;
  }
  if (clients.each.empty()) return std::nullopt;
  return Fairness{slowest / fastest,
                  sum * sum / (static_cast<double>(clients.each.size()) * squares)};
}

}  // namespace filereel
