#include "replay/results/file_systems.h"

#include <algorithm>
#include <tuple>

#include "filesets/system/mounts.h"
#include "filesets/system/search.h"

namespace filereel {

std::vector<std::string> file_systems_of(const Result& result) {
  return file_systems_of({&result, 1});
}

std::vector<std::string> file_systems_of(std::span<const Result> results) {
  std::vector<std::string> names;
  for (const Result& result : results) {
    for (const Measurement& measurement : result.measurements) {
      if (!measurement.samples.empty() && !contains(names, measurement.file_system)) {
        names.push_back(measurement.file_system);
      }
    }
  }
  return names;
}

bool same_volumes(const Result& result, const Result& other) {
  const auto alike = [](const VolumeDescription& first, const VolumeDescription& second) {
    if (distinct_options(first.mount_options) != distinct_options(second.mount_options)) {
      return false;
    }
    const bool known = !first.features.empty() && !second.features.empty();
    return !known || first.size != second.size || first.features == second.features;
  };
  return std::ranges::all_of(result.volumes, [&](const VolumeDescription& first) {
    return std::ranges::all_of(other.volumes, [&](const VolumeDescription& second) {
      return first.role != second.role || first.file_system != second.file_system ||
             first.part != second.part || alike(first, second);
    });
  });
}

bool same_kind_of_storage(const VolumeDescription& one, const VolumeDescription& other) {
  const auto kind = [](const VolumeDescription& volume) {
    const DeviceIdentity drive = volume.drives.empty() ? DeviceIdentity{} : volume.drives.front();
    return std::tuple(in_memory(volume), volume.network.has_value(), drive.rotational,
                      drive.transport);
  };
  return kind(one) == kind(other);
}

Result only_on(const Result& result, const std::string& file_system) {
  Result kept;
  kept.version = result.version;
  kept.session = result.session;
  kept.started = result.started;
  kept.label = result.label;
  kept.note = result.note;
  kept.serials_hidden = result.serials_hidden;
  kept.host = result.host;
  kept.plan = result.plan;
  kept.complete = result.complete;
  kept.warnings = result.warnings;
  const auto is_on = [&](const auto& one) { return one.file_system == file_system; };
  std::ranges::copy_if(result.escaped_names, std::back_inserter(kept.escaped_names), is_on);
  std::ranges::copy_if(result.baselines, std::back_inserter(kept.baselines), is_on);
  std::ranges::copy_if(result.measurements, std::back_inserter(kept.measurements), is_on);
  for (const VolumeDescription& volume : result.volumes) {
    const bool other_role_only = std::ranges::none_of(result.volumes, [&](const auto& other) {
      return other.role == volume.role && is_on(other);
    });
    if (is_on(volume) || other_role_only) kept.volumes.push_back(volume);
  }
  for (const Result& control : result.control) {  // a directory's may be on another one
    const std::vector<std::string> names = file_systems_of(control);
    const bool has_it = contains(names, file_system);
    kept.control.push_back(has_it ? only_on(control, file_system) : control);
  }
  return kept;
}

std::vector<Result> all_on(std::span<const Result> results, const std::string& file_system) {
  std::vector<Result> kept;
  for (const Result& result : results) {
    Result one = only_on(result, file_system);
    if (!one.measurements.empty()) kept.push_back(std::move(one));
  }
  return kept;
}

}  // namespace filereel
