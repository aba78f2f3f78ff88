#include "replay/results/result_limits.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/wording.h"
#include "replay/results/packed.h"
#include "replay/results/result_members.h"
#include "replay/results/result_sweep.h"

namespace filereel {
namespace {

// Workloads have up to 1,000 phases; plans have up to 100 sets and 100 file systems.
constexpr std::size_t kMostMeasurements = 100'000, kMostVolumes = 1'000, kMostDrives = 1'000,
                      kMostNames = 1'000, kMostClients = 100'000, kMostFileSystems = 100,
                      kMostCells = 100'000, kMostKinds = 1'000, kMostSlowest = 1'000,
                      kMostSizes = 100, kMostBaselines = 10'000, kMostSweepCells = 4'000'000,
                      kLongestName = 4'096;

// Finds the first limit that a result exceeds.
class LimitChecker {
 public:
  explicit LimitChecker(const Result& result) : result_(result) {}

  std::string find() {
    at_most(result_.volumes.size(), kMostVolumes, "volumes");
    for (const VolumeDescription& volume : result_.volumes) {
      at_most(volume.drives.size(), kMostDrives, "drives of a volume");
      at_most(volume.states.size(), kMostDrives, "states of a volume");
      at_most(volume.features.size(), kMostNames, "features of a volume");
      if (volume.network) look_at(*volume.network);
    }
    at_most(result_.baselines.size(), kMostBaselines, "block baselines");
    at_most(result_.measurements.size(), kMostMeasurements, "measurements");
    for (const Measurement& measurement : result_.measurements) look_at(measurement);
    for (const Result& control : result_.control) {
      at_most(control.measurements.size(), kMostMeasurements, "measurements");
      for (const Measurement& one : control.measurements) look_at(one);
    }
    at_most(sets_.size(), kMostNames, "sets");
    at_most(operations_.size(), kMostNames, "operations");
    at_most(sets_.size() * operations_.size(), kMostCells, "sets times operations");
    at_most(file_systems_.size(), kMostFileSystems, "file systems");
    for (const WorkRecord& work : result_.plan.work) look_at(work);
    look_at_sweeps();
    return std::move(found_);
  }

 private:
  void note(std::string text) {
    if (found_.empty()) found_ = std::move(text);
  }
  void at_most(std::size_t count, std::size_t most, std::string_view what) {
    if (count > most) note(fmt::format("more than {} {}", most, what));
  }

  void check_name(const std::string& name) {
    if (name.size() > kLongestName) {
      note(fmt::format("a name of {}, longer than the limit of {}", counted(name.size(), "byte"),
                       kLongestName));
    }
  }

  void check_time(double seconds, std::string_view member, const Sample& sample) {
    if (seconds == 0 || (seconds >= kLeastTime && seconds <= kMostTime)) return;
    note(fmt::format("'{}' of run {} is out of range: {} s (expected 0, or {} to {})", member,
                     sample.run, seconds, kLeastTime, kMostTime));
  }

  void look_at(const NetworkShare& share) {
    for_each_member(share, [this](const auto&, const auto& value) {
      if constexpr (std::same_as<decltype(value), const std::string&>) check_name(value);
    });
  }

  void look_at(const Measurement& measurement) {
    for (const std::string* name :
         {&measurement.workload, &measurement.set, &measurement.operation, &measurement.file_system,
          &measurement.driver, &measurement.work_digest}) {
      check_name(*name);
    }
    for (const auto& [axis, value] : measurement.parameters) {
      check_name(axis);
      check_name(value);
    }
    if (found_.empty()) {  // they may be long
      sets_.insert(measurement.set);
      operations_.insert(measurement.operation);
      file_systems_.insert(measurement.file_system);
    }
    at_most(measurement.samples.size(), kMostRuns, "samples of a measurement");
    std::set<std::string_view> kinds;
    for (const Sample& sample : measurement.samples) {
      check_time(sample.elapsed_s, "elapsed_s", sample);
      check_time(sample.durable_s, "durable_s", sample);
      for (const auto& [kind, latency] : sample.latency) {
        check_name(kind);
        kinds.insert(kind);
      }
      at_most(sample.slowest.size(), kMostSlowest, "slowest operations of a sample");
      if (sample.clients) look_at(*sample.clients, sample);
      look_at_packed(sample);
    }
    at_most(kinds.size(), kMostKinds, "kinds of operations of a measurement");
  }

  void look_at(const ClientsSample& clients, const Sample& sample) {
    at_most(clients.each.size(), kMostClients, "clients");
    check_time(clients.first_ended_s, "first_ended_s", sample);
    for (const ClientFigures& client : clients.each) {
      check_name(client.host);
      check_time(client.start_s, "start_s", sample);
      check_time(client.elapsed_s, "elapsed_s", sample);
      check_time(client.durable_s, "durable_s", sample);
      check_packed([&client] { (void)unpack_client_course(client); });
    }
  }

  // Unpacks everything once, so that later readers need not expect errors.
  void look_at_packed(const Sample& sample) {
    for (const auto* kinds : {&sample.latency, &sample.service}) {
      for (const auto& kind : *kinds) {
        const LatencySummary& latency = kind.second;
        at_most(latency.sizes.size(), kMostSizes, "sizes of operations");
        check_packed([&latency] { check_histograms(latency); });
      }
    }
    if (sample.rates) check_packed([&sample] { (void)unpack_rates(*sample.rates); });
    if (sample.course) check_packed([&sample] { (void)unpack_course(*sample.course); });
  }

  template <class Unpack>
  void check_packed(const Unpack& unpack) {
    if (!found_.empty()) return;
    try {
      unpack();
    } catch (const Error& error) {
      note(error.what());
    }
  }

  void look_at(const WorkRecord& work) {
    for (const std::string* name : {&work.job, &work.set, &work.file}) check_name(*name);
    at_most(work.does.size(), WorkRecord::kMostLines + 1, "lines of what a job does");
  }

  void look_at_sweeps() {
    at_most(result_.plan.jobs.size(), kMostJobs, "jobs");
    if (!found_.empty()) return;
    std::size_t cells = 0;
    for (const JobRecord& job : result_.plan.jobs) {
      if (job.axes.empty()) continue;
      for (const SweepAxis& axis : job.axes) {
        check_name(axis.name);
        for (const std::string& value : axis.values) check_name(value);
      }
      std::set<std::pair<std::string_view, std::string_view>> matrices;
      for (const Measurement& measurement : result_.measurements) {
        if (measurement.workload == job.name)
          matrices.emplace(measurement.file_system, measurement.operation);
      }
      cells += matrices.size() * points_of(job.axes);
    }
    at_most(cells, kMostSweepCells, "points of sweeps in all operations");
  }

  const Result& result_;
  std::set<std::string_view> sets_, operations_, file_systems_;
  std::string found_;
};

// The place of the quote that ends the string from the quote at `begin`; the end of the text if
// there is none. Most of a result's text is in strings.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (true) {
    end = text.find('"', end + 1);
    if (end == std::string_view::npos) return text.size();
    const std::size_t last = text.find_last_not_of('\\', end - 1);  // before backslashes
    if ((end - last) % 2 == 1) return end;  // an even number of them, all escaped
  }
}

}  // namespace

std::string exceeded_json_limit(std::string_view text) {
  std::size_t depth = 0, values = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        i = end_of_string(text, i);
        break;
      case '[':
      case '{':
        ++values;
        if (++depth > kDeepestResult) {
          return fmt::format("nested more than {} deep", counted(kDeepestResult, "level"));
        }
        break;
      case ']':
      case '}':
        depth -= depth > 0 ? 1 : 0;
        break;
      case ',':
        ++values;
        break;
      default:
        break;
    }
    if (values > kMostResultValues)
      return fmt::format("more than {}", counted(kMostResultValues, "value"));
  }
  return "";
}

std::string exceeded_limit(const Result& result) {
  return LimitChecker(result).find();
}

}  // namespace filereel
