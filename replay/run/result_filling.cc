#include "replay/run/result_filling.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <stdlib.h>

#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/results/checks.h"
#include "replay/results/hidden_serials.h"
#include "replay/run/conditions.h"
#include "replay/volumes/processes.h"

namespace filereel {
namespace {

// The access shape of a step at the device. A trace has one, the most frequent.
std::optional<AccessShape> access_of(const Job& job, const Step& step,
                                     const std::vector<AccessShape>& shapes) {
  if (step.access || !job.may_diverge() || shapes.empty()) return step.access;
  return shapes.front();
}

}  // namespace

void begin_result(Result& result, const Plan& of, const std::optional<AutoRuns>& auto_runs,
                  const std::string& session) {
  result.version = FILEREEL_VERSION;
  result.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time(nullptr)));
  result.host = describe_host();
  result.session = session;
  PlanRecord& plan = result.plan;
  plan.name = of.name;
  plan.report = of.report;
  plan.indexes = of.indexes;
  plan.runs = 1;  // so far
  plan.auto_runs = auto_runs;
  for (const std::unique_ptr<Job>& job : of.jobs) {
    JobRecord record = job->record();
    if (!contains(plan.jobs, record.name, &JobRecord::name)) {
      plan.jobs.push_back(std::move(record));
    }
    plan.work.push_back(job->work());
  }
}

// What filereel can neither empty before a step nor write back after it.
void warn_of_foreign_caches(const VolumeDescription& volume, Result& result) {
  const auto is_buffered = [](const std::string& layer) { return layer.contains(kBufferedLoop); };
  if (!in_memory(volume) && std::ranges::any_of(volume.layers, is_buffered)) {
    result.warn({"loop-buffered",
                 fmt::format("{}: the loop device has no direct I/O: the page cache below it stays "
                             "filled, so that reads may come from memory",
                             volume.target),
                 "set the loop device up with losetup --direct-io=on"});
  }
  if (volume.network && !volume.network->protocol.starts_with("nfs")) {
    result.warn(
        {"server-cache",
         fmt::format("{}: times until durable end when the server has the data, because {} has no "
                     "call that writes back all files; and the server's cache stays filled",
                     volume.network->source, volume.network->protocol),
         "measure more data than the server has memory, or on the server itself"});
  }
}

// Small volumes get small clusters from mkfs, and FAT then chains very many of them.
void warn_of_small_clusters(const VolumeDescription& volume, Result& result) {
  constexpr std::uint64_t kSmall = 4096;
  const bool is_fat = volume.file_system == "fat32" || volume.file_system == "vfat";
  const auto found = volume.features.find("cluster size");
  if (!is_fat || found == volume.features.end()) return;
  const std::uint64_t bytes = strtoull(found->second.c_str(), nullptr, 10);
  if (bytes == 0 || bytes >= kSmall) return;
  result.warn({"small-clusters",
               fmt::format("{} has clusters of {}, because the volume is small: large files are "
                           "many times slower than with those of usual volumes",
                           volume.file_system, counted(bytes, "byte")),
               "use a volume of 260 MiB or more, which has clusters of 4 KiB or more"});
}

void add_volume(const Volume& volume, Result& result) {
  VolumeDescription description = described(volume.describe(), result);
  if (description.driver != "kernel" && description.network) {
    result.warn(
        {"fuse-driver",
         fmt::format("{} used the FUSE driver of {}: the results measure this driver as "
                     "well as the network and the server",
                     description.network->source, description.network->protocol),
         "to compare servers or networks, use the same driver for all, or a protocol of the "
         "kernel, such as NFS"});
  } else if (description.driver != "kernel") {
    result.warn({"fuse-driver",
                 fmt::format("{} used the FUSE driver {}: the results measure the driver, not the "
                             "device",
                             description.file_system, description.driver),
                 "to compare devices, use a kernel with its own driver for this file system"});
  }
  warn_of_foreign_caches(description, result);
  warn_of_states(description, result);
  const auto same = [&](const VolumeDescription& other) {
    return other.role == description.role && other.part == description.part &&
           other.file_system == description.file_system;
  };
  if (std::ranges::any_of(result.volumes, same)) return;
  FileSystemFeatures features = volume.features();
  description.features = std::move(features.values);
  description.features_unknown = std::move(features.unknown);
  description.used = used_share(volume);
  warn_of_small_clusters(description, result);
  result.volumes.push_back(std::move(description));
}

std::string name_for_warnings(const Job& job, const Result& result) {
  return result.plan.jobs.size() > 1 ? job.record().name : "";
}

void name_warnings(const Job& job, std::size_t before, Result& result) {
  const auto first = result.warnings.begin() + static_cast<std::ptrdiff_t>(before);
  std::vector<Warning> fresh(first, result.warnings.end());
  result.warnings.erase(first, result.warnings.end());
  const std::string name = name_for_warnings(job, result);
  for (Warning& warning : fresh) result.warn(std::move(warning), name);
}

std::size_t measurements_of(const Step& step) {
  if (!step.measured) return 0;
  return step.apart ? 1 + step.volumes.size() : 1;
}

void add_measurements(const Job& job, std::uint64_t point, const Volumes& volumes,
                      const FittedJob& fitted, const std::vector<AccessShape>* shapes,
                      Result& result) {
  const JobRecord record = job.record();
  Measurement measurement;
  measurement.kind = record.kind;
  measurement.workload = record.name;
  measurement.set = job.set();
  measurement.file_system = volumes.file_system();
  measurement.driver = volumes.near ? volumes.near->describe().driver : "none";
  measurement.replay = job.replay_parameters(point);
  measurement.parameters = job.parameters(point);
  measurement.work_digest = job.work_digest(point);
  for (const Step& step : fitted.steps()) {
    measurement.ends = step.ends_after_s > 0 ? PhaseEnd::time : PhaseEnd::work;
    measurement.without_direct_io = step.without_direct_io;
    for (std::size_t i = 0; i < measurements_of(step); ++i) {
      measurement.operation = step.operation;
      if (i > 0) measurement.operation += fmt::format(" {}", role_name(step.volumes[i - 1]));
      // The baseline was measured on near.
      const bool of_near = !step.apart || (i > 0 && step.volumes[i - 1] == Role::near);
      measurement.access = shapes && of_near ? access_of(job, step, *shapes) : std::nullopt;
      result.measurements.push_back(measurement);
    }
  }
}

}  // namespace filereel
