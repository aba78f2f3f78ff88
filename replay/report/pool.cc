#include "replay/report/pool.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "filesets/system/search.h"
#include "replay/compare/comparison.h"
#include "replay/results/checks.h"
#include "replay/results/file_systems.h"

namespace filereel {
namespace {

// Whether it is near's, model, serial number, firmware. For a share its source alone.
using Drive = std::tuple<bool, std::string, std::string, std::string>;

std::vector<Drive> drives_of(const Result& result) {
  std::vector<Drive> drives;
  const auto add = [&](Drive drive) {
    const bool is_known = drive != Drive(std::get<0>(drive), "", "", "");
    if (is_known && !contains(drives, drive)) {
      drives.push_back(std::move(drive));
    }
  };
  for (const VolumeDescription& volume : result.volumes) {
    const bool near = volume.role == Role::near;
    for (const DeviceIdentity& device : volume.drives) {
      add({near, device.model, device.serial, device.firmware});
    }
    if (volume.network) add({near, volume.network->source, "", ""});
  }
  std::ranges::sort(drives);
  return drives;
}

// Whether equal job names have equal settings; the overhead may differ.
bool same_settings(const Result& result, const Result& other) {
  return std::ranges::all_of(result.plan.jobs, [&](const JobRecord& job) {
    return std::ranges::all_of(other.plan.jobs, [&](JobRecord same) {
      same.overhead_ns = job.overhead_ns;
      return same.name != job.name || same == job;
    });
  });
}

// Identifies a measurement on one drive, including the driver.
std::pair<MeasurementKey, std::string> measurement_id(const Measurement& measurement) {
  return {key_of(measurement), measurement.driver};
}

bool measure_the_same(const Result& result, const Result& other) {
  std::set<std::pair<MeasurementKey, std::string>> things;
  for (const Measurement& first : result.measurements) things.insert(measurement_id(first));
  return std::ranges::any_of(other.measurements, [&](const Measurement& second) {
    return things.contains(measurement_id(second));
  });
}

bool may_be_equal(const std::optional<bool>& one, const std::optional<bool>& other) {
  return !one || !other || *one == *other;
}

// Whether the measurements that both have did the same work, as far as is known, with direct I/O or
// without, and define MB/s alike.
bool measure_alike(const Result& result, const Result& other) {
  std::map<std::pair<MeasurementKey, std::string>, const Measurement*> first;
  for (const Measurement& measurement : result.measurements) {
    first.emplace(measurement_id(measurement), &measurement);
  }
  return std::ranges::all_of(other.measurements, [&](const Measurement& second) {
    const auto same = first.find(measurement_id(second));
    if (same == first.end()) return true;
    const std::string& digest = same->second->work_digest;
    return same->second->without_bytes_read == second.without_bytes_read &&
           may_be_equal(same->second->without_direct_io, second.without_direct_io) &&
           (digest.empty() || second.work_digest.empty() || digest == second.work_digest);
  });
}

bool belong_together(const ReportedResult& first, const ReportedResult& second) {
  if (!first.group.empty() || !second.group.empty()) return first.group == second.group;
  const Result &result = first.result, &other = second.result;
  const std::vector<Drive> drives = drives_of(result);
  const auto machine = [](const HostInfo& host) {
    return std::tie(host.cpu, host.cores, host.kernel);
  };
  if (drives != drives_of(other) || result.label != other.label ||
      machine(result.host) != machine(other.host) || !same_settings(result, other) ||
      !measure_alike(result, other) || !same_volumes(result, other)) {
    return false;
  }
  // Without a label, a repeated measurement may be meant for comparison.
  return !result.label.empty() || (!drives.empty() && !measure_the_same(result, other));
}

// `runs`: before those of the samples.
void add_samples(const Measurement& more, std::uint32_t runs, Measurement& measurement) {
  for (Sample sample : more.samples) {
    sample.run += runs;
    measurement.samples.push_back(std::move(sample));
  }
  if (measurement.runs_ended != more.runs_ended) measurement.runs_ended.clear();
  measurement.earlier_rounds.clear();  // rounds of one run
}

void add_measurements(const Result& more, Result& result) {
  std::map<std::pair<MeasurementKey, std::string>, std::size_t> places;
  // By job, so that samples of one repetition keep a number in common.
  std::map<std::string, std::uint32_t> runs;
  for (std::size_t i = 0; i < result.measurements.size(); ++i) {
    const Measurement& measurement = result.measurements[i];
    places.emplace(measurement_id(measurement), i);
    std::uint32_t& last = runs[measurement.workload];
    for (const Sample& sample : measurement.samples) last = std::max(last, sample.run);
  }
  for (const Measurement& measurement : more.measurements) {
    const auto [place, is_new] =
        places.emplace(measurement_id(measurement), result.measurements.size());
    if (is_new) {
      result.measurements.push_back(measurement);
    } else {
      add_samples(measurement, runs[measurement.workload], result.measurements[place->second]);
    }
  }
}

void add_plan(const PlanRecord& more, PlanRecord& plan) {
  if (plan.name != more.name) plan.name += ", " + more.name;
  plan.runs = std::max(plan.runs, more.runs);
  for (const JobRecord& job : more.jobs) {
    if (!contains(plan.jobs, job.name, &JobRecord::name)) {
      plan.jobs.push_back(job);
    }
  }
  for (const WorkRecord& work : more.work) {
    const bool known = std::ranges::any_of(plan.work, [&](const WorkRecord& one) {
      return one.job == work.job && one.set == work.set;
    });
    if (!known) plan.work.push_back(work);
  }
  const auto add_new = [](const auto& from, auto& to) {
    for (const auto& one : from) {
      if (!contains(to, one)) to.push_back(one);
    }
  };
  add_new(more.file_systems, plan.file_systems);
  add_new(more.report, plan.report);
  add_new(more.indexes, plan.indexes);
}

void add_result(const ReportedResult& more, ReportedResult& pool) {
  Result& result = pool.result;
  pool.file += ", " + more.file;
  pool.reference = pool.reference || more.reference;
  result.started = std::min(result.started, more.result.started);
  result.complete = result.complete && more.result.complete;
  if (result.note != more.result.note && !more.result.note.empty()) {
    result.note += (result.note.empty() ? "" : "; ") + more.result.note;
  }
  for (const Warning& warning : more.result.warnings) result.warn(warning);
  for (const VolumeDescription& volume : more.result.volumes) {
    const bool known = std::ranges::any_of(result.volumes, [&](const VolumeDescription& other) {
      return other.role == volume.role && other.file_system == volume.file_system &&
             other.mount_options == volume.mount_options && other.size == volume.size;
    });
    if (!known) result.volumes.push_back(volume);
  }
  for (const BlockBaseline& baseline : more.result.baselines) {
    const bool known = std::ranges::any_of(result.baselines, [&](const BlockBaseline& other) {
      const auto accesses = [](const BlockBaseline& of) {
        return std::tie(of.file_system, of.on, of.pattern, of.block_size, of.depth);
      };
      return accesses(other) == accesses(baseline);
    });
    if (!known) result.baselines.push_back(baseline);
  }
  for (const EscapedNames& names : more.result.escaped_names) {
    result.escaped_names.push_back(names);
  }
  add_plan(more.result.plan, result.plan);
  add_measurements(more.result, result);
  check_sample_counts(result);
}

std::vector<ReportedResult> pooled(std::span<const ReportedResult> results,
                                   std::span<const std::size_t> columns) {
  std::vector<ReportedResult> pools;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (columns[i] == pools.size()) {
      pools.push_back(results[i]);
    } else {
      add_result(results[i], pools[columns[i]]);
    }
  }
  return pools;
}

}  // namespace

std::vector<std::size_t> columns_of(std::span<const ReportedResult> results) {
  std::vector<std::size_t> columns;
  std::vector<std::vector<const ReportedResult*>> members;  // by column
  for (const ReportedResult& reported : results) {
    const auto column = std::ranges::find_if(members, [&](const auto& others) {
      return std::ranges::all_of(
          others, [&](const ReportedResult* other) { return belong_together(*other, reported); });
    });
    columns.push_back(static_cast<std::size_t>(column - members.begin()));
    if (column == members.end()) {
      members.push_back({&reported});
    } else {
      column->push_back(&reported);
    }
  }
  return columns;
}

std::vector<ReportedResult> pooled_by_drive(std::span<const ReportedResult> results) {
  return pooled(results, columns_of(results));
}

std::vector<std::string> column_names(std::span<const ReportedResult> results) {
  std::vector<ReportedResult> heads;  // without measurements
  for (const ReportedResult& reported : results) {
    Result head = reported.result.of_same_run();
    head.label = reported.result.label;
    head.volumes = reported.result.volumes;
    heads.push_back({reported.file, std::move(head)});
  }
  return result_names(pooled(heads, columns_of(results)));
}

ReportColumns::ReportColumns(std::vector<ReportedResult> results) {
  const std::vector<std::size_t> columns = columns_of(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t column = columns[i];
    if (std::ranges::count(columns, column) == 1) {
      pooled_.push_back(std::move(results[i]));
      sessions_.emplace_back();
      continue;
    }
    if (column == pooled_.size()) {
      pooled_.push_back(results[i]);
      sessions_.emplace_back();
    } else {
      add_result(results[i], pooled_[column]);
    }
    sessions_[column].push_back(std::move(results[i].result));
  }
}

std::span<const Result> ReportColumns::sessions(std::size_t column) const {
  if (!sessions_[column].empty()) return sessions_[column];
  return {&pooled_[column].result, 1};
}

void ReportColumns::keep_figures() {
  for (ReportedResult& reported : pooled_) reported.result.keep_figures();
  for (std::vector<Result>& list : sessions_) std::ranges::for_each(list, &Result::keep_figures);
}

}  // namespace filereel
