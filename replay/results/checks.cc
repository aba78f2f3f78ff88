#include "replay/results/checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/results/work_checks.h"
#include "replay/statistics/rank_tests.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/steady_state.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

// Above this share of cached content, the figures of a cold step show it; below kWarm, those of a
// warm step.
constexpr double kCold = 0.02, kWarm = 1 - kCold;
// Groups closer than this factor do not matter.
constexpr double kLeastGap = 1.1;
// A drift is reported if it is this unlikely by chance, over all measurements together, and at
// least this large.
constexpr double kDriftLevel = 0.01, kLeastDrift = 0.05;
// Thresholds for other I/O. They ignore occasional log writes and what is small beside the step's
// own traffic.
constexpr double kBusyBytesPerSecond = 1e6, kBusyShare = 0.05;
constexpr double kStolenCpu = 0.05;  // share of all CPU time
// Share of the time in which programs waited for memory.
constexpr double kMemoryPressure = 0.1;
// Share of filereel's own lookups of directories in the time of operations and lookups.
constexpr double kSlowLookups = 0.05;
// The share of samples that must exceed a threshold above. Single moments show up as outliers.
constexpr double kOften = 0.25;
// Ratio of the highest clocks of two samples of the same measurement. Turbo clocks vary less than
// this.
constexpr double kClockRange = 1.25;
// Above this, file systems no longer find long free extents, and drives hardly any free blocks.
constexpr double kNearlyFull = 0.95;

// Sample::cold_method if files were read to warm the caches.
constexpr std::string_view kRead = "read";

bool has_figures(const Sample& sample) {
  return !has_failed(sample) && sample.elapsed_s > 0 && sample.durable_s > 0 &&
         !sample.moved_no_data;
}

// The rates of the samples, in order: MB/s if they moved content, otherwise operations/s.
struct MeasuredRates {
  const Measurement* of = nullptr;
  std::string_view unit = "operations/s";
  std::vector<double> values;
};
MeasuredRates measured_rates(const Measurement& measurement) {
  MeasuredRates speeds{.of = &measurement, .values = {}};
  const bool content = std::ranges::any_of(measurement.samples, [](const Sample& sample) {
    return has_figures(sample) && sample.bytes > 0;
  });
  if (content) speeds.unit = "MB/s";
  const bool until_calls_return = !content && !info_of(measurement.kind).by_set;
  double Sample::* const until = until_calls_return ? &Sample::elapsed_s : rate_time(measurement);
  for (const Sample& sample : measurement.samples) {
    if (!has_figures(sample)) continue;
    const double amount =
        content ? static_cast<double>(sample.bytes) / 1e6 : static_cast<double>(sample.operations);
    if (amount > 0) speeds.values.push_back(amount / (sample.*until));
  }
  return speeds;
}

// A result and those of its measurements that have figures.
struct CheckedResult {
  Result& result;
  std::vector<MeasuredRates> measured;
  std::string_view code;  // of the warnings of the present check

  void warn(std::string text, std::string next_step) {
    result.warn({std::string(code), std::move(text), std::move(next_step)});
  }
};

// "3 of 25 measurements", "2 measurements".
std::string how_many(const CheckedResult& checked, std::size_t count) {
  const std::size_t all = checked.measured.size();
  return count == all ? counted(all, "measurement") : counted_of(count, all, "measurement");
}

void for_each_sample(const CheckedResult& checked, const std::function<void(const Sample&)>& look) {
  for (const MeasuredRates& rates : checked.measured) {
    for (const Sample& sample : rates.of->samples) {
      if (has_figures(sample)) look(sample);
    }
  }
}
bool often(std::size_t count, std::size_t looks) {
  return static_cast<double>(count) >= kOften * static_cast<double>(looks);
}

void too_few(CheckedResult& checked) {
  std::size_t count = 0, most = 0;
  for (const MeasuredRates& rates : checked.measured) {
    if (rates.values.size() >= kLeastForInterval) continue;
    ++count;
    most = std::max(most, rates.values.size());
  }
  if (count == 0) return;
  checked.warn(fmt::format("{} with at most {}: too few for a 95 % interval",
                           how_many(checked, count), counted(most, "sample")),
               checked.result.plan.auto_runs
                   ? fmt::format("let --runs auto take {} or more: --budget, least_runs "
                                 "and most_runs limit it",
                                 kLeastForInterval)
                   : fmt::format("use --runs auto, or at least {}", kLeastForInterval));
}

// Cached content of one file system's measurements.
struct Cached {
  std::size_t warm = 0;  // measurements with at least one warm sample
  const Measurement* worst = nullptr;
  double most = kCold;         // share of the content, in the worst measurement
  bool contents_only = false;  // names and inodes could not be dropped
};

Cached cached_on(const Result& result, const std::string& file_system) {
  Cached cached;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.file_system != file_system) continue;
    bool is_warm = false;
    for (const Sample& sample : measurement.samples) {
      if (has_failed(sample)) continue;
      cached.contents_only = cached.contents_only || sample.cold_method == "fadvise";
      const double share = sample.cached_before.value_or(0);
      if (sample.cold_method == "warm" || sample.cold_method == kRead || share <= kCold) continue;
      is_warm = true;
      if (share > cached.most) {
        cached.most = share;
        cached.worst = &measurement;
      }
    }
    cached.warm += is_warm ? 1 : 0;
  }
  return cached;
}

void not_cold(CheckedResult& checked) {
  std::vector<std::string> file_systems;
  for (const Measurement& measurement : checked.result.measurements) {
    if (!contains(file_systems, measurement.file_system)) {
      file_systems.push_back(measurement.file_system);
    }
  }
  const std::string memory = roles_in_memory(checked.result.volumes);
  for (const std::string& file_system : file_systems) {
    const Cached cached = cached_on(checked.result, file_system);
    if (cached.worst && !memory.empty()) {
      checked.warn(fmt::format("{}: nothing is cold in memory ({})", file_system, memory),
                   "to measure a drive, use a volume on it");
    } else if (cached.worst) {
      checked.warn(
          fmt::format("{} of the content was cached before {} started, so it was faster than the "
                      "device{}",
                      percent_text(cached.most), quoted_name(*cached.worst),
                      cached.warm < 2 ? "" : fmt::format(" ({})", how_many(checked, cached.warm))),
          std::string(root_advice("run as root, on a volume that filereel may format",
                                  "use a volume that filereel may format")));
    }
    if (cached.contents_only) {
      checked.warn(fmt::format("{}: only file content was dropped from the caches; names "
                               "and inodes stayed cached",
                               file_system),
                   std::string(root_advice("run as root, or on a volume that filereel may format",
                                           "use a volume that filereel may format")));
    }
  }
}

void not_warm(CheckedResult& checked) {
  std::size_t count = 0;
  const Measurement* worst = nullptr;
  double least = kWarm;
  for (const MeasuredRates& rates : checked.measured) {
    bool is_cold = false;
    for (const Sample& sample : rates.of->samples) {
      const double share = sample.cached_before.value_or(1);
      if (!has_figures(sample) || sample.cold_method != kRead || share >= kWarm) continue;
      is_cold = true;
      if (share < least) {
        least = share;
        worst = rates.of;
      }
    }
    count += is_cold ? 1 : 0;
  }
  if (!worst) return;
  checked.warn(
      fmt::format("only {} of the content was cached before {} started, so the device was read, "
                  "too{}",
                  percent_text(least), quoted_name(*worst),
                  count < 2 ? "" : fmt::format(" ({})", how_many(checked, count))),
      "use files that fit in memory, for example with a smaller --scale");
}

void bimodal(CheckedResult& checked) {
  std::size_t count = 0;
  const MeasuredRates* worst = nullptr;
  Modes furthest;
  for (const MeasuredRates& rates : checked.measured) {
    const std::optional<Modes> modes = bimodal_modes(rates.values);
    if (!modes || modes->low <= 0 || modes->high < kLeastGap * modes->low) continue;
    ++count;
    if (worst && modes->high / modes->low <= furthest.high / furthest.low) continue;
    worst = &rates;
    furthest = *modes;
  }
  if (!worst) return;
  checked.warn(
      fmt::format("{} is bimodal, around {} and {} {}{}", quoted_name(*worst->of),
                  format_number(furthest.low), format_number(furthest.high), worst->unit,
                  count < 2 ? ""
                            : fmt::format("; {} {} bimodal", how_many(checked, count),
                                          agreeing(count, "is", "are"))),
      "find out what alternates (drive cache, trim, another program); the median hides it");
}

void drift(CheckedResult& checked) {
  std::vector<const MeasuredRates*> series;
  std::vector<Drift> drifts;
  std::vector<double> p;
  for (const MeasuredRates& rates : checked.measured) {
    const std::optional<Drift> drift = drift_of(rates.values);
    if (!drift || drift->change <= 0) continue;
    series.push_back(&rates);
    drifts.push_back(*drift);
    p.push_back(drift->p);
  }
  const std::vector<double> adjusted = holm_adjusted(p, std::vector<double>(p.size(), 1));
  std::size_t count = 0;
  std::optional<std::size_t> worst;
  const auto size = [&](std::size_t i) { return std::abs(std::log(drifts[i].change)); };
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (adjusted[i] > kDriftLevel || size(i) < std::log(1 + kLeastDrift)) continue;
    ++count;
    if (!worst || size(i) > size(*worst)) worst = i;
  }
  if (!worst) return;
  const double change = drifts[*worst].change;
  checked.warn(fmt::format("{} became {} {} during the run{}", quoted_name(*series[*worst]->of),
                           percent_text(std::abs(change - 1)), change < 1 ? "slower" : "faster",
                           count < 2 ? "" : fmt::format("; {} drifted", how_many(checked, count))),
               "let the drive settle, fill its caches and cool it before you measure");
}

void device_busy(CheckedResult& checked) {
  std::size_t looks = 0;
  std::vector<double> busy;
  for_each_sample(checked, [&](const Sample& sample) {
    if (!sample.conditions.idle_device_bytes_per_s) return;
    ++looks;
    const double moved =
        static_cast<double>(std::max(sample.bytes, sample.device_bytes_read.value_or(0) +
                                                       sample.device_bytes_written.value_or(0)));
    const double idle = *sample.conditions.idle_device_bytes_per_s;
    if (idle > std::max(kBusyBytesPerSecond, kBusyShare * moved / sample.durable_s)) {
      busy.push_back(idle);
    }
  });
  if (busy.empty() || !often(busy.size(), looks)) return;
  checked.warn(fmt::format("other I/O reached the drive before {} (median {}/s)",
                           counted_of(busy.size(), looks, "step"),
                           format_size(static_cast<std::uint64_t>(median(busy)))),
               "stop the programs that use it (iotop lists them), or use a dedicated drive");
}

// `before` and `after` stand around the share in the text.
void high_share(CheckedResult& checked, std::optional<double> Conditions::* share, double threshold,
                std::string_view before, std::string_view after, const char* next_step) {
  std::size_t looks = 0;
  std::vector<double> busy;
  for_each_sample(checked, [&](const Sample& sample) {
    const std::optional<double> taken = sample.conditions.*share;
    if (!taken) return;
    ++looks;
    if (*taken > threshold) busy.push_back(*taken);
  });
  if (busy.empty() || !often(busy.size(), looks)) return;
  checked.warn(fmt::format("{} {} {} (median of {})", before, percent_text(median(busy)), after,
                           counted_of(busy.size(), looks, "sample")),
               next_step);
}

void clock_rates(CheckedResult& checked) {
  std::size_t looks = 0, count = 0;
  double low = 0, high = 0;
  for (const MeasuredRates& rates : checked.measured) {
    std::vector<double> clocks;
    for (const Sample& sample : rates.of->samples) {
      if (const auto mhz = sample.conditions.cpu_mhz_high; mhz && *mhz > 0) {
        clocks.push_back(*mhz);
      }
    }
    if (clocks.size() < 3) continue;
    ++looks;
    const auto [least, most] = std::ranges::minmax(clocks);
    if (most < kClockRange * least) continue;
    ++count;
    if (low > 0 && most / least <= high / low) continue;
    low = least;
    high = most;
  }
  if (count == 0 || 2 * count < looks) return;
  checked.warn(fmt::format("CPU clocks ranged from {:.1f} to {:.1f} GHz across samples of the "
                           "same measurement ({})",
                           low / 1e3, high / 1e3, how_many(checked, count)),
               "set the governor to performance (cpupower frequency-set -g performance), and "
               "check the cooling");
}

void slow_lookups(CheckedResult& checked) {
  std::size_t looks = 0;
  std::vector<double> slow;
  for_each_sample(checked, [&](const Sample& sample) {
    if (!sample.lookup_s) return;
    ++looks;
    double seconds = *sample.lookup_s;
    for (const auto& [name, latency] : sample.service.empty() ? sample.latency : sample.service) {
      seconds += latency.total_us * 1e-6;
    }
    if (*sample.lookup_s > kSlowLookups * seconds) slow.push_back(*sample.lookup_s / seconds);
  });
  if (slow.empty() || !often(slow.size(), looks)) return;
  checked.warn(
      fmt::format("filereel's own lookups of directories took {} of the time of operations (median "
                  "of {})",
                  percent_text(median(slow)), counted_of(slow.size(), looks, "sample")),
      "judge the latencies, which do not contain them; elapsed times do");
}

void clock_source(CheckedResult& checked) {
  static constexpr std::array<std::string_view, 4> kSlow = {"hpet", "acpi_pm", "jiffies",
                                                            "refined-jiffies"};
  if (!contains(kSlow, checked.result.host.clock_source)) return;
  checked.warn(fmt::format("the kernel uses the clock source {}, which is slow to read or coarse, "
                           "because it does not trust the CPU's own counter",
                           checked.result.host.clock_source),
               "check dmesg for clocksource messages; latencies of short operations are too high");
}

void nearly_full(CheckedResult& checked) {
  const Measurement* worst = nullptr;
  double most = kNearlyFull;
  for (const MeasuredRates& rates : checked.measured) {
    for (const Sample& sample : rates.of->samples) {
      const double used = sample.conditions.volume_used.value_or(0);
      if (used <= most) continue;
      most = used;
      worst = rates.of;
    }
  }
  if (!worst) return;
  // Rounded down: 100 % would be wrong.
  checked.warn(fmt::format("the volume was {:.0f} % full after {}", std::floor(most * 100),
                           quoted_name(*worst)),
               "use a larger volume or a smaller --scale; full file systems and drives are slow");
}

void other_programs(CheckedResult& checked) {
  high_share(checked, &Conditions::other_cpu, kMuchOtherCpu, "other programs took",
             "of the CPU time", "end them, or measure on an idle machine");
}

void host_of_virtual_machine(CheckedResult& checked) {
  high_share(checked, &Conditions::stolen_cpu, kStolenCpu, "the host of this virtual machine took",
             "of the CPU time", "measure on physical hardware, or where CPUs are not shared");
}

void memory_pressure(CheckedResult& checked) {
  high_share(checked, &Conditions::memory_pressure, kMemoryPressure,
             "programs waited for memory during", "of the time",
             "raise the memory limit of the container or service, or end other programs");
}

struct ResultCheck {
  std::string_view code;
  void (*run)(CheckedResult&);
};

constexpr ResultCheck kTooFewSamples = {"too-few-samples", too_few};

// Jobs that were to reach the steady state, and did not.
void not_steady(CheckedResult& checked) {
  for (const MeasuredRates& rates : checked.measured) {
    const JobRecord& job = checked.result.job_of(*rates.of);
    if (!contains(job.settings, "steady", &Parameters::value_type::first)) continue;
    const std::vector<double> counted_rates = main_rates(*rates.of);
    const std::size_t rounds = rates.of->earlier_rounds.size() + counted_rates.size();
    const auto window = steady_window(
        std::span(counted_rates).first(std::min(kSteadyRounds, counted_rates.size())));
    if (window && window->is_steady()) continue;
    checked.warn(
        fmt::format("{} on {} was not in steady state after {}{}", quoted_name(*rates.of),
                    rates.of->file_system, counted(rounds, "round"),
                    window
                        ? fmt::format(": in five of them, a range of {} and a slope of {} of the "
                                      "mean (at most {} and {})",
                                      percent_text(window->range), percent_text(window->slope),
                                      percent_text(kSteadyRange), percent_text(kSteadySlope))
                        : ""),
        "add --precondition, let each round write more, or look for what else uses the drive");
  }
}

// In the order of the warnings; check_work adds more at the end. To add a check, write a function,
// and add a line here.
constexpr std::array<ResultCheck, 14> kChecks = {{kTooFewSamples,
                                                  {"not-cold", not_cold},
                                                  {"not-warm", not_warm},
                                                  {"bimodal", bimodal},
                                                  {"drift", drift},
                                                  {"not-steady", not_steady},
                                                  {"device-busy", device_busy},
                                                  {"cpu-busy", other_programs},
                                                  {"cpu-stolen", host_of_virtual_machine},
                                                  {"cpu-frequency", clock_rates},
                                                  {"lookups-slow", slow_lookups},
                                                  {"clock-unstable", clock_source},
                                                  {"volume-nearly-full", nearly_full},
                                                  {"memory-pressure", memory_pressure}}};

void run_check(const ResultCheck& check, CheckedResult& checked) {
  checked.code = check.code;
  check.run(checked);
}

CheckedResult with_figures(Result& result) {
  CheckedResult checked{result, {}, {}};
  for (const Measurement& measurement : result.measurements) {
    if (measurement.file_system == "none") continue;  // replayed without a volume
    MeasuredRates speeds = measured_rates(measurement);
    if (!speeds.values.empty()) checked.measured.push_back(std::move(speeds));
  }
  return checked;
}

}  // namespace

void check_result(Result& result) {
  std::erase_if(result.warnings, [](const Warning& warning) {
    return contains(kChecks, warning.code, &ResultCheck::code) ||
           contains(kWorkCodes, warning.code);
  });
  CheckedResult checked = with_figures(result);
  for (const ResultCheck& check : kChecks) run_check(check, checked);
  check_work(result);
}

void check_sample_counts(Result& result) {
  std::erase_if(result.warnings,
                [](const Warning& warning) { return warning.code == kTooFewSamples.code; });
  CheckedResult checked = with_figures(result);
  run_check(kTooFewSamples, checked);
}

void warn_of_states(const VolumeDescription& volume, Result& result) {
  for (const LayerState& state : volume.states) {
    if (!is_impaired(state)) continue;
    result.warn({"volume-degraded",
                 fmt::format("{} ({}) was measured in this state: {}", volume.target,
                             role_name(volume.role), state_text(state)),
                 "measure again when it is complete and idle; these figures are not typical"});
  }
}

}  // namespace filereel
