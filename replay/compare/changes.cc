#include "replay/compare/changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/units.h"
#include "replay/results/check_texts.h"
#include "replay/results/hidden_serials.h"
#include "replay/statistics/order.h"

namespace filereel {
namespace {

// All values that a group has for one aspect, without duplicates; "" means unknown.
class Values {
 public:
  void add(std::string value) {
    if (value.empty() || std::ranges::find(values_, value) != values_.end()) return;
    values_.push_back(std::move(value));
  }
  bool empty() const { return values_.empty(); }
  std::string text() const { return fmt::format("{}", fmt::join(values_, ", ")); }
  bool differ_from(const Values& other) const {
    return !std::ranges::is_permutation(values_, other.values_);
  }

 private:
  std::vector<std::string> values_;
};

// A result with its volumes prepared for comparison.
struct PreparedResult {
  const Result& result;
  std::vector<VolumeDescription> volumes;
};

// With `hide`, serial numbers are hidden in all volumes.
std::vector<PreparedResult> look_at(std::span<const Result> results, bool hide) {
  std::vector<PreparedResult> list;
  for (const Result& result : results) {
    PreparedResult& one = list.emplace_back(PreparedResult{result, result.volumes});
    if (hide && !result.serials_hidden) std::ranges::for_each(one.volumes, hide_serials);
  }
  return list;
}

// One aspect to compare. Changes are reported in the order of the aspects.
struct ComparedProperty {
  ChangeKind kind;
  std::string what;
  std::function<void(const PreparedResult&, Values&)> collect;
};

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
  const char* what;
  std::string (*text)(const VolumeDescription&);
  bool of_file_system = false;  // depends on the file system
};

constexpr auto kVolumeAspects = std::to_array<VolumeAspect>({
    {"volume type", [](const VolumeDescription& v) { return v.target_kind; }},
    {"driver", [](const VolumeDescription& v) { return v.driver; }, true},
    {"mount options", [](const VolumeDescription& v) { return v.mount_options; }, true},
    {"age", [](const VolumeDescription& v) { return v.age; }},
    {"volume size", [](const VolumeDescription& v) { return size_text(v.size); }},
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
  for (const Measurement& one : result.measurements) {
    for (const Sample& sample : one.samples) {
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
                        for (const DeviceIdentity& one : volume.drives) values.add(text(one));
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

// `file_system` is "" in a comparison across file systems: any file system matches.
std::vector<ComparedProperty> volume_aspects(Role role, const std::string& file_system) {
  const bool across = file_system.empty();
  std::vector<ComparedProperty> list;
  for (const VolumeAspect& aspect : kVolumeAspects) {
    list.push_back({across && aspect.of_file_system ? ChangeKind::file_system : ChangeKind::other,
                    across
                        ? fmt::format("{} ({})", aspect.what, role_name(role))
                        : fmt::format("{} of {} ({})", aspect.what, file_system, role_name(role)),
                    [=, text = aspect.text](const PreparedResult& looked, Values& values) {
                      for (const VolumeDescription& volume : looked.volumes) {
                        const bool is_it =
                            volume.role == role && (across || volume.file_system == file_system);
                        if (is_it) values.add(text(volume));
                      }
                    }});
  }
  return list;
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
            for (const JobRecord& one : looked.result.plan.jobs) {
              if (one.name != job) continue;
              const Parameters settings = settings_of(one);
              const auto found =
                  std::ranges::find(settings, setting, &Parameters::value_type::first);
              values.add(found == settings.end() ? "not set" : found->second);
            }
          }};
}

std::vector<ComparedProperty> job_aspects(std::span<const Result> base,
                                          std::span<const Result> fresh) {
  std::vector<ComparedProperty> list;
  std::vector<std::pair<std::string, std::string>> seen;
  for (const std::span<const Result> side : {base, fresh}) {
    for (const Result& result : side) {
      for (const JobRecord& job : result.plan.jobs) {
        for (const auto& [setting, value] : settings_of(job)) {
          const std::pair one(job.name, setting);
          if (std::ranges::find(seen, one) != seen.end()) continue;
          seen.push_back(one);
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
  using Text = std::function<std::string(const VolumeDescription&)>;
  const auto add = [&](const std::string& what, Text text,
                       ChangeKind kind = ChangeKind::file_system) {
    list.push_back({kind, fmt::format("{} of {} ({})", what, file_system, role_name(role)),
                    [=, text = std::move(text)](const PreparedResult& looked, Values& values) {
                      for (const VolumeDescription& volume : looked.volumes) {
                        if (is_of(volume, role, file_system)) values.add(text(volume));
                      }
                    }});
  };
  for (const std::string& name : names.features) {
    add(name, [name](const VolumeDescription& volume) -> std::string {
      if (volume.features.empty()) return "";
      return features_in(volume).contains(name) ? "on" : "off";
    });
  }
  for (const std::string& name : names.values) {
    add(name, [name](const VolumeDescription& volume) -> std::string {
      const auto found = volume.features.find(name);
      return found == volume.features.end() ? "" : found->second;
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

// The median share in use before the first step.
std::optional<double> used_before(std::span<const PreparedResult> results, Role role) {
  std::vector<double> shares;
  for (const PreparedResult& one : results) {
    for (const VolumeDescription& volume : one.volumes) {
      if (volume.role == role && volume.used) shares.push_back(*volume.used);
    }
  }
  return shares.empty() ? std::nullopt : std::optional(median(shares));
}

// Volumes are compared as fuller only if it may matter.
void compare_use(std::span<const PreparedResult> base, std::span<const PreparedResult> fresh,
                 std::vector<Change>& changes) {
  constexpr double kMatters = 0.05;
  const auto text = [](double share) { return fmt::format("{:.0f} %", share * 100); };
  for (std::size_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    const std::optional<double> before = used_before(base, role), after = used_before(fresh, role);
    if (!before || !after || std::abs(*after - *before) < kMatters) continue;
    changes.push_back({ChangeKind::other, fmt::format("share in use ({})", role_name(role)),
                       text(*before), text(*after)});
  }
}

// For the file systems of the base, in their order.
std::vector<ComparedProperty> all_volume_aspects(std::span<const Result> base,
                                                 std::span<const Result> fresh, bool across) {
  std::vector<ComparedProperty> list;
  std::vector<std::pair<Role, std::string>> seen;
  for (const Result& result : base) {
    for (const VolumeDescription& volume : result.volumes) {
      const std::pair place(volume.role, across ? "" : volume.file_system);
      if (std::ranges::find(seen, place) != seen.end()) continue;
      seen.push_back(place);
      std::ranges::move(volume_aspects(place.first, place.second), std::back_inserter(list));
      if (across) continue;  // each has features of its own
      FeatureNames names;
      add_names(base, place.first, place.second, names);
      add_names(fresh, place.first, place.second, names);
      std::ranges::move(feature_aspects(place.first, place.second, names),
                        std::back_inserter(list));
    }
  }
  return list;
}

std::vector<ComparedProperty> all_aspects(std::span<const Result> base,
                                          std::span<const Result> fresh, bool across) {
  std::vector<ComparedProperty> list;
  const auto append = [&](std::vector<ComparedProperty> more) {
    std::ranges::move(more, std::back_inserter(list));
  };
  for (std::size_t role = 0; role < kRoles; ++role) {
    append(drive_aspects(static_cast<Role>(role)));
    list.push_back(share_aspect(static_cast<Role>(role)));
  }
  append(all_volume_aspects(base, fresh, across));
  for (const PlainAspect& aspect : kPlainAspects) {
    list.push_back({ChangeKind::other, aspect.what,
                    [text = aspect.text](const PreparedResult& looked, Values& values) {
                      values.add(text(looked.result));
                    }});
  }
  append(job_aspects(base, fresh));
  return list;
}

}  // namespace

std::vector<Change> changes_between(std::span<const Result> base, std::span<const Result> fresh) {
  // Hidden in one result, the serial number of the same drive would look different.
  const auto hides = [](std::span<const Result> results) {
    return std::ranges::any_of(results, &Result::serials_hidden);
  };
  const bool hide = hides(base) || hides(fresh);
  const std::vector<PreparedResult> base_looked = look_at(base, hide),
                                    fresh_looked = look_at(fresh, hide);
  std::vector<Change> changes;
  const std::optional<CrossedFileSystems> across = crossed_file_systems(base, fresh);
  if (across) {
    changes.push_back({ChangeKind::file_system, "file system", across->base, across->fresh});
  }
  for (const ComparedProperty& aspect : all_aspects(base, fresh, across.has_value())) {
    Values before, after;
    for (const PreparedResult& one : base_looked) aspect.collect(one, before);
    for (const PreparedResult& one : fresh_looked) aspect.collect(one, after);
    if (before.empty() || after.empty() || !before.differ_from(after)) continue;
    changes.push_back({aspect.kind, aspect.what, before.text(), after.text()});
  }
  compare_use(base_looked, fresh_looked, changes);
  std::ranges::stable_sort(changes, {}, &Change::kind);
  return changes;
}

}  // namespace filereel
