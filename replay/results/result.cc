#include "replay/results/result.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/results/bytes_moved.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

// How the caches are at the start of a step, unless they are left warm. Below those of a volume in
// memory, there is nothing slower.
std::string cold_text(std::span<const VolumeDescription> volumes) {
  const std::string roles = roles_in_memory(volumes);
  if (roles.empty()) return "cold caches";
  if (std::ranges::all_of(volumes, in_memory)) return "in memory";
  return fmt::format("cold caches ({} in memory)", roles);
}

}  // namespace

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::optional<Spread> spread_of(std::span<const double> values, Middle middle) {
  if (values.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(values);
  return Spread{median(values, middle), low, high, median_interval(values),
                static_cast<std::uint32_t>(outliers(values).size())};
}

namespace {

constexpr auto kKinds = std::to_array<JobKindInfo>({
    {.kind = JobKind::fc_test,
     .name = "fc-test",
     .title = "FC-Test",
     .plural = "FC-Test",
     .work = "file set",
     .method = "FC-Test creates, reads, copies and deletes realistic file sets: installations, "
               "music, disk images, programs.",
     .by_set = true},
    {.kind = JobKind::workload,
     .name = "workload",
     .title = "workload",
     .plural = "workloads",
     .work = "recipe of",
     .method = "Workloads run the phases of their recipes on generated files."},
    {.kind = JobKind::trace,
     .name = "trace",
     .title = "recorded trace",
     .plural = "recorded traces",
     .work = "trace",
     .method = "Recorded traces were replayed: the same operations on the same files, in an "
               "order that preserves their dependencies. Each call was timed.",
     .replays = true},
});

consteval bool has_row_of_each_kind() {
  for (const JobKind kind : job_kinds()) {
    if (kKinds[static_cast<std::size_t>(kind)].kind != kind) return false;
  }
  return kKinds.size() == kJobKinds;
}
static_assert(has_row_of_each_kind());  // in their order

}  // namespace

const JobKindInfo& info_of(JobKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

std::string_view phase_end_name(PhaseEnd end) {
  return end == PhaseEnd::time ? "time" : "work";
}

std::string point_text(const Parameters& parameters) {
  std::string text;
  for (const auto& [axis, value] : parameters) text += fmt::format(", {} {}", axis, value);
  return text;
}

bool in_memory(const VolumeDescription& volume) {
  // DeviceStack::layers has "file on tmpfs", and more words behind it with a loop device.
  const auto is_file = [](const std::string& layer) {
    return layer.starts_with("file on tmpfs") || layer.starts_with("file on ramfs");
  };
  return volume.file_system == "tmpfs" || volume.file_system == "ramfs" ||
         (volume.drives.empty() && std::ranges::any_of(volume.layers, is_file));
}

std::string roles_in_memory(std::span<const VolumeDescription> volumes) {
  std::vector<std::string_view> roles;
  for (const VolumeDescription& volume : volumes) {
    const std::string_view role = role_name(volume.role);
    if (in_memory(volume) && !contains(roles, role)) roles.push_back(role);
  }
  return fmt::format("{}", fmt::join(roles, " and "));
}

std::string settings_text(const JobRecord& job, std::span<const VolumeDescription> volumes) {
  std::string text = fmt::format("scale {}", job.scale);
  for (const auto& [name, value] : job.settings) {
    text += fmt::format(", {} {}", words_of(name), value);
  }
  return text + ", " + (job.warm ? "warm caches" : cold_text(volumes));
}

void keep_figures(Sample& sample) {
  sample.course.reset();
  sample.slowest = {};
  if (!sample.clients) return;
  for (ClientFigures& client : sample.clients->each)
    client.bytes_course = client.operations_course = {};
}

bool was_cut_short(const Sample& sample) {
  return sample.conditions.stops.value_or(0) > 0 || (sample.reel && sample.reel->ended_early);
}

bool has_failed(const Sample& sample) {
  const bool failed = !sample.reel && sample.divergences > 0;
  return failed || was_cut_short(sample) || !sample.failed_calls.empty();
}

double Sample::* rate_time(const Measurement& measurement) {
  return has_written(measurement) ? &Sample::durable_s : &Sample::elapsed_s;
}

std::vector<double> main_rates(const Measurement& measurement) {
  double Sample::* const until = rate_time(measurement);
  std::vector<double> rates;
  for (const Sample& sample : measurement.samples) {
    const SampleRates all = rates_of(measurement, sample, until);
    const std::optional<double>& rate = all.mb_per_s      ? all.mb_per_s
                                        : all.files_per_s ? all.files_per_s
                                                          : all.operations_per_s;
    if (rate) rates.push_back(*rate);
  }
  return rates;
}

SampleRates rates_of(const Measurement& measurement, const Sample& sample, double Sample::* until) {
  constexpr double kMega = 1e6;
  const auto rate = [&](std::uint64_t amount, double unit,
                        double seconds) -> std::optional<double> {
    if (amount == 0 || seconds <= 0 || has_failed(sample)) return std::nullopt;
    return static_cast<double>(amount) / unit / seconds;
  };
  const std::uint64_t bytes = sample.moved_no_data ? 0 : sample.bytes;
  const BytesMoved moved = sample.moved_no_data ? BytesMoved{} : bytes_moved(sample);
  const std::uint64_t operations = info_of(measurement.kind).by_set ? 0 : sample.operations;
  return {.mb_per_s = rate(bytes, kMega, sample.*until),
          .read_mb_per_s = rate(moved.read, kMega, sample.*until),
          .written_mb_per_s = rate(moved.written, kMega, sample.*until),
          .mb_per_s_elapsed = rate(bytes, kMega, sample.elapsed_s),
          .files_per_s = rate(sample.files, 1, sample.*until),
          .operations_per_s = rate(operations, 1, sample.elapsed_s),
          .transactions_per_s = rate(sample.transactions.value_or(0), 1, sample.elapsed_s)};
}

Summary Measurement::summary() const {
  double Sample::* const until = rate_time(*this);
  std::vector<SampleRates> rates;
  for (const Sample& sample : samples) rates.push_back(rates_of(*this, sample, until));
  const auto spread = [&](std::optional<double> SampleRates::* rate) {
    std::vector<double> values;
    for (const SampleRates& sample_rates : rates) {
      if (sample_rates.*rate) values.push_back(*(sample_rates.*rate));
    }
    return spread_of(values, Middle::of_rates);
  };
  return {.mb_per_s = spread(&SampleRates::mb_per_s),
          .read_mb_per_s = spread(&SampleRates::read_mb_per_s),
          .written_mb_per_s = spread(&SampleRates::written_mb_per_s),
          .mb_per_s_elapsed = spread(&SampleRates::mb_per_s_elapsed),
          .files_per_s = spread(&SampleRates::files_per_s),
          .operations_per_s = spread(&SampleRates::operations_per_s),
          .transactions_per_s = spread(&SampleRates::transactions_per_s)};
}

std::optional<Spread> Measurement::seconds(double Sample::* time) const {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    if (!has_failed(sample)) values.push_back(sample.*time);
  }
  return spread_of(values);
}

std::optional<Spread> Measurement::latency(const std::string& call,
                                           double LatencySummary::* percentile) const {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    const auto found = sample.latency.find(call);
    if (has_failed(sample) || found == sample.latency.end() || found->second.count == 0) continue;
    values.push_back(found->second.*percentile);
  }
  return spread_of(values);
}

double Measurement::median_count(const std::string& call) const {
  if (samples.empty()) return 0;
  std::vector<double> counts;
  for (const Sample& sample : samples) {
    const auto found = sample.latency.find(call);
    counts.push_back(found == sample.latency.end() ? 0 : static_cast<double>(found->second.count));
  }
  return median(counts);
}

const WorkRecord* Result::work_of(const Measurement& measurement) const {
  return find_if_or_null(plan.work, [&](const WorkRecord& work) {
    return work.job == measurement.workload && work.set == measurement.set;
  });
}

const JobRecord& Result::job_of(const Measurement& measurement) const {
  static const JobRecord kNone;
  const JobRecord* const found = find_or_null(plan.jobs, measurement.workload, &JobRecord::name);
  return found ? *found : kNone;
}

Result Result::of_same_run() const {
  Result other;
  other.version = version;
  other.started = started;
  other.session = session;
  other.serials_hidden = serials_hidden;
  other.host = host;
  other.plan = plan;
  other.complete = complete;
  return other;
}

std::optional<std::int64_t> Result::started_s() const {
  tm parts{};
  const char* const end = strptime(started.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (!end || *end != '\0') return std::nullopt;
  return timegm(&parts);
}

void Result::add(Measurement& measurement, Sample sample) {
  plan.runs = std::max(plan.runs, sample.run);
  measurement.samples.push_back(std::move(sample));
}

bool Result::has_samples() const {
  return std::ranges::any_of(
      measurements, [](const Measurement& measurement) { return !measurement.samples.empty(); });
}

void Result::keep_figures() {
  for (Measurement& measurement : measurements)
    std::ranges::for_each(measurement.samples, filereel::keep_figures);
  std::ranges::for_each(control, &Result::keep_figures);
}

void Result::warn(Warning warning) {
  const auto same = [&](const Warning& other) {
    return other.code == warning.code && other.text == warning.text;
  };
  if (std::ranges::none_of(warnings, same)) warnings.push_back(std::move(warning));
}

void Result::warn(Warning warning, const std::string& of) {
  if (of.empty() || is_about(warning.text, of)) return warn(std::move(warning));
  const std::string end = ": " + warning.text;
  const auto same = std::ranges::find_if(warnings, [&](const Warning& other) {
    return other.code == warning.code && other.text.ends_with(end);
  });
  if (same == warnings.end()) {
    warning.text.insert(0, of + ": ");
    return warnings.push_back(std::move(warning));
  }
  const std::string names = same->text.substr(0, same->text.size() - end.size());
  const bool is_named = fmt::format(", {}, ", names).contains(fmt::format(", {}, ", of));
  if (!is_named) same->text = names + ", " + of + end;
}

}  // namespace filereel
