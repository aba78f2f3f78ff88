#include "replay/compare/properties.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/mounts.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/compare/same_work.h"
#include "replay/results/hidden_serials.h"
#include "replay/results/work_checks.h"

namespace filereel {
namespace {

std::string number(std::uint64_t value) {
  return value == 0 ? "" : std::to_string(value);
}

std::string size_text(std::uint64_t bytes) {
  return bytes == 0 ? "" : format_size(bytes);
}

// Partitions by number only: the kernel may call the same drive "sdb" after a reboot, and the same
// image "loop1".
std::string layer_text(const std::string& layer) {
  constexpr std::string_view kPartition = " (partition)";
  if (!layer.ends_with(kPartition)) return layer;
  const std::string name = layer.substr(0, layer.size() - kPartition.size());
  return "partition " + name.substr(name.find_last_not_of("0123456789") + 1);
}

std::string layers_text(const VolumeDescription& volume) {
  if (volume.layers.empty()) {
    // Results of schema version 1 have neither layers nor block sizes of drives.
    const auto knows = [](const DeviceIdentity& drive) { return drive.logical_block != 0; };
    return std::ranges::any_of(volume.drives, knows) ? "none" : "";
  }
  std::vector<std::string> texts;
  std::ranges::transform(volume.layers, std::back_inserter(texts), layer_text);
  return fmt::format("{}", fmt::join(texts, " on "));
}

// The states count as a change, but not the progress of a recovery.
std::string states_text(const VolumeDescription& volume) {
  std::vector<std::string> texts;
  std::ranges::transform(volume.states, std::back_inserter(texts), state_text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

// For a part of a device; unknown in results from before schema version 5.
std::string start_text(const VolumeDescription& volume) {
  return volume.start ? format_binary_size(*volume.start) : "";
}

struct DriveAspect {
  ChangeKind kind;
  const char* what;
  std::string (*text)(const DeviceIdentity&);
};

constexpr auto kDriveAspects = std::to_array<DriveAspect>({
    {ChangeKind::firmware, "firmware", [](const DeviceIdentity& d) { return d.firmware; }},
    {ChangeKind::drive, "model", [](const DeviceIdentity& d) { return d.model; }},
    {ChangeKind::drive, "serial number", [](const DeviceIdentity& d) { return d.serial; }},
    {ChangeKind::drive, "capacity", [](const DeviceIdentity& d) { return size_text(d.size); }},
    {ChangeKind::other, "transport", [](const DeviceIdentity& d) { return d.transport; }},
    {ChangeKind::other, "scheduler", [](const DeviceIdentity& d) { return d.scheduler; }},
    {ChangeKind::other, "write cache", [](const DeviceIdentity& d) { return d.write_cache; }},
    {ChangeKind::other, "physical block size",
     [](const DeviceIdentity& d) { return number(d.physical_block); }},
    {ChangeKind::other, "queue length",
     [](const DeviceIdentity& d) { return number(d.queue_requests); }},
    {ChangeKind::other, "read-ahead",
     [](const DeviceIdentity& d) { return size_text(std::uint64_t{d.read_ahead_kib} * 1024); }},
});

struct VolumeAspect {
  std::string_view what;
  std::string (*text)(const VolumeDescription&);
  bool of_file_system = false;  // depends on the file system
};

constexpr auto kVolumeAspects = std::to_array<VolumeAspect>({
    {"mount options", [](const VolumeDescription& v) { return distinct_options(v.mount_options); },
     true},
    {"driver", [](const VolumeDescription& v) { return v.driver; }, true},
    {"volume type", [](const VolumeDescription& v) { return v.target_kind; }},
    {"age", [](const VolumeDescription& v) { return v.age; }},
    {kVolumeSize, [](const VolumeDescription& v) { return size_text(v.size); }},
    {"offset", start_text},
    {"layers", layers_text},
    {"state", states_text},
});

// Of the control groups; "" in results that do not tell.
std::string quota_text(const Result& result) {
  const std::optional<double>& quota = result.host.cpu_quota;
  return !quota ? "" : *quota == 0 ? "none" : cores_text(*quota);
}

std::string limit_text(const Result& result) {
  const std::optional<std::uint64_t>& limit = result.host.memory_limit;
  return !limit ? "" : *limit == 0 ? "none" : format_size(*limit);
}

// Without a quota, nothing is throttled.
std::string throttling_text(const Result& result) {
  if (!result.host.cpu_quota) return "";
  for (const Measurement& measurement : result.measurements) {
    for (const Sample& sample : measurement.samples) {
      if (is_throttled(sample.conditions)) return "some periods";
    }
  }
  return "none";
}

struct PlainAspect {
  const char* what;
  std::string (*text)(const Result&);
};

constexpr auto kPlainAspects = std::to_array<PlainAspect>({
    {"filereel", [](const Result& r) { return r.version; }},
    {"kernel", [](const Result& r) { return r.host.kernel; }},
    {"kernel build", [](const Result& r) { return r.host.kernel_build; }},
    {"processor", [](const Result& r) { return r.host.cpu; }},
    {"microcode", [](const Result& r) { return r.host.microcode; }},
    {"cores", [](const Result& r) { return number(r.host.cores); }},
    {"memory", [](const Result& r) { return size_text(r.host.memory); }},
    {"governor", [](const Result& r) { return r.host.governor; }},
    {"clock source", [](const Result& r) { return r.host.clock_source; }},
    {"CPU set", [](const Result& r) { return r.host.cpu_set; }},
    {"CPU quota", quota_text},
    {"CPU throttling", throttling_text},
    {"memory limit", limit_text},
});

std::vector<ComparedProperty> drive_aspects(Role role) {
  std::vector<ComparedProperty> list;
  for (const DriveAspect& aspect : kDriveAspects) {
    list.push_back({aspect.kind, fmt::format("{} ({})", aspect.what, role_name(role)),
                    [role, text = aspect.text](const PreparedResult& looked, Values& values) {
                      for (const VolumeDescription& volume : looked.volumes) {
                        if (volume.role != role) continue;
                        for (const DeviceIdentity& drive : volume.drives) values.add(text(drive));
                      }
                    }});
  }
  return list;
}

// A share takes the place of the drive.
ComparedProperty share_aspect(Role role) {
  return {ChangeKind::drive, fmt::format("share ({})", role_name(role)),
          [role](const PreparedResult& looked, Values& values) {
            for (const VolumeDescription& volume : looked.volumes) {
              if (volume.role == role && volume.network) values.add(volume.network->source);
            }
          }};
}

using VolumeText = std::function<std::string(const VolumeDescription&)>;

// `file_system` is "" for volumes of any file system.
ComparedProperty volume_property(std::string_view what, const VolumeText& text, ChangeKind kind,
                                 Role role, const std::string& file_system) {
  const bool any = file_system.empty();
  return {kind,
          any ? fmt::format("{} ({})", what, role_name(role))
              : fmt::format("{} of {} ({})", what, file_system, role_name(role)),
          [=](const PreparedResult& looked, Values& values) {
            for (const VolumeDescription& volume : looked.volumes) {
              if (volume.role != role || (!any && volume.file_system != file_system)) continue;
              values.add(text(volume));
            }
          }};
}

// The settings of a job, including its caches.
Parameters settings_of(const JobRecord& job) {
  Parameters settings = {{"caches", job.warm ? "warm" : "cold"}};
  settings.insert(settings.end(), job.settings.begin(), job.settings.end());
  return settings;
}

// One setting of the jobs of a name. The text includes the name if there are several jobs.
ComparedProperty job_aspect(const std::string& job, const std::string& setting, bool alone) {
  const std::string what = alone ? words_of(setting) : words_of(setting) + " of " + job;
  return {ChangeKind::other, what, [=](const PreparedResult& looked, Values& values) {
            for (const JobRecord& record : looked.result.plan.jobs) {
              if (record.name != job) continue;
              const Parameters settings = settings_of(record);
              const auto* found = find_or_null(settings, setting, &Parameters::value_type::first);
              values.add(found ? found->second : "not set");
            }
          }};
}

using Groups = std::span<const std::span<const Result>>;

std::vector<ComparedProperty> job_aspects(Groups groups) {
  std::vector<ComparedProperty> list;
  std::set<std::pair<std::string, std::string>> seen;
  for (const std::span<const Result> group : groups) {
    for (const Result& result : group) {
      for (const JobRecord& job : result.plan.jobs) {
        for (const auto& [setting, value] : settings_of(job)) {
          if (!seen.emplace(job.name, setting).second) continue;
          list.push_back(job_aspect(job.name, setting, result.plan.jobs.size() == 1));
        }
      }
    }
  }
  return list;
}

bool is_of(const VolumeDescription& volume, Role role, const std::string& file_system) {
  return volume.role == role && volume.file_system == file_system;
}

// The names of values, and those in their list of features, on either side.
struct FeatureNames {
  std::set<std::string> values, features;
};

std::set<std::string> words_in(const std::string& list) {
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), {}};
}

std::set<std::string> features_in(const VolumeDescription& volume) {
  const auto found = volume.features.find(std::string(kFeatureList));
  return found == volume.features.end() ? std::set<std::string>() : words_in(found->second);
}

void add_names(std::span<const Result> results, Role role, const std::string& file_system,
               FeatureNames& names) {
  for (const Result& result : results) {
    for (const VolumeDescription& volume : result.volumes) {
      if (!is_of(volume, role, file_system)) continue;
      for (const auto& [name, value] : volume.features) names.values.insert(name);
      names.features.merge(features_in(volume));
    }
  }
  names.values.erase(std::string(kFeatureList));
}

// What the file systems say of themselves, each value and each feature of a list for itself.
std::vector<ComparedProperty> feature_aspects(Role role, const std::string& file_system,
                                              const FeatureNames& names) {
  std::vector<ComparedProperty> list;
  const auto add = [&](const std::string& what, const VolumeText& text,
                       ChangeKind kind = ChangeKind::file_system) {
    list.push_back(volume_property(what, text, kind, role, file_system));
  };
  for (const std::string& name : names.features) {
    add(name, [name](const VolumeDescription& volume) -> std::string {
      if (volume.features.empty()) return "";
      return features_in(volume).contains(name) ? "on" : "off";
    });
  }
  for (const std::string& name : names.values) {
    add(name, [name](const VolumeDescription& volume) -> std::string {
      if (volume.features.empty()) return "";
      const auto found = volume.features.find(name);  // missing: it goes with a feature that is off
      return found == volume.features.end() ? "none" : found->second;
    });
  }
  // The reason names the device, whose name may change.
  const auto known = [](const VolumeDescription& volume) -> std::string {
    if (!volume.features.empty()) return "known";
    return volume.features_unknown.empty() ? "" : "unknown";
  };
  add("features", known, ChangeKind::other);
  return list;
}

// The file systems of a role, in their order.
std::vector<std::string> file_systems_of(Groups groups, Role role) {
  std::vector<std::string> list;
  for (const std::span<const Result> group : groups) {
    for (const Result& result : group) {
      for (const VolumeDescription& volume : result.volumes) {
        if (volume.role != role) continue;
        if (contains(list, volume.file_system)) continue;
        list.push_back(volume.file_system);
      }
    }
  }
  return list;
}

void add_volume_properties(Groups groups, Role role, bool across,
                           std::vector<ComparedProperty>& list) {
  const std::vector<std::string> file_systems = file_systems_of(groups, role);
  if (file_systems.empty()) return;
  if (role != Role::near) {  // a measurement is named after near's
    const auto name = [](const VolumeDescription& volume) { return volume.file_system; };
    list.push_back(volume_property("file system", name, ChangeKind::file_system, role, ""));
  }
  for (const VolumeAspect& aspect : kVolumeAspects) {
    if (across) {
      const ChangeKind kind = aspect.of_file_system ? ChangeKind::file_system : ChangeKind::other;
      list.push_back(volume_property(aspect.what, aspect.text, kind, role, ""));
      continue;
    }
    for (const std::string& file_system : file_systems) {
      list.push_back(
          volume_property(aspect.what, aspect.text, ChangeKind::other, role, file_system));
    }
  }
  for (const std::string& file_system : file_systems) {
    FeatureNames names;
    for (const std::span<const Result> group : groups) add_names(group, role, file_system, names);
    std::ranges::move(feature_aspects(role, file_system, names), std::back_inserter(list));
  }
}

}  // namespace

void Values::add(std::string value) {
  if (value.empty() || contains(values_, value)) return;
  values_.push_back(std::move(value));
}

std::string Values::text() const {
  std::vector<std::string> sorted = values_;  // the order of results is no difference
  std::ranges::sort(sorted);
  const bool has_commas =
      std::ranges::any_of(sorted, [](const std::string& one) { return one.contains(','); });
  return fmt::format("{}", fmt::join(sorted, has_commas ? "; " : ", "));
}

std::vector<PreparedGroup> prepared(Groups groups) {
  const bool hide = std::ranges::any_of(groups, [](std::span<const Result> group) {
    return std::ranges::any_of(group, &Result::serials_hidden);
  });
  std::vector<PreparedGroup> list(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const Result& result : groups[i]) {
      PreparedResult& one = list[i].emplace_back(PreparedResult{result, result.volumes});
      if (hide && !result.serials_hidden) std::ranges::for_each(one.volumes, hide_serials);
    }
  }
  return list;
}

Values ComparedProperty::of(const PreparedGroup& group) const {
  Values values;
  for (const PreparedResult& prepared : group) collect(prepared, values);
  return values;
}

std::vector<ComparedProperty> properties_of(Groups groups, bool across) {
  std::vector<ComparedProperty> list;
  // Within a kind, what variants of a volume are made of comes first.
  for (std::size_t i = 0; i < kRoles; ++i) {
    add_volume_properties(groups, static_cast<Role>(i), across, list);
  }
  for (std::size_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    std::ranges::move(drive_aspects(role), std::back_inserter(list));
    list.push_back(share_aspect(role));
  }
  for (const PlainAspect& aspect : kPlainAspects) {
    list.push_back({ChangeKind::other, aspect.what,
                    [text = aspect.text](const PreparedResult& looked, Values& values) {
                      values.add(text(looked.result));
                    }});
  }
  std::ranges::move(job_aspects(groups), std::back_inserter(list));
  std::ranges::move(work_properties(groups), std::back_inserter(list));
  return list;
}

}  // namespace filereel
