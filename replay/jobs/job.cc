#include "replay/jobs/job.h"

namespace filereel {

Volume* Volumes::of(Role role) const {
  const auto number = static_cast<std::size_t>(role);
  if (number == 0) return near;
  return number <= far.size() ? far[number - 1] : nullptr;
}

std::vector<Volume*> Volumes::all() const {
  std::vector<Volume*> list;
  if (near) list.push_back(near);
  list.insert(list.end(), far.begin(), far.end());
  return list;
}

std::vector<Volume*> Volumes::list(std::span<const Role> roles) const {
  std::vector<Volume*> list;
  for (const Role role : roles) {
    if (Volume* volume = of(role)) list.push_back(volume);
  }
  return list;
}

std::vector<FileSystemLimits> Volumes::limits() const {
  std::vector<FileSystemLimits> limits;
  for (const Volume* volume : all()) limits.push_back(volume->limits());
  if (limits.empty()) limits.emplace_back();
  return limits;
}

std::string Volumes::file_system() const {
  return near ? near->describe().file_system : "none";
}

std::vector<FileSystemKind> PlannedVolumes::kinds() const {
  std::vector<FileSystemKind> kinds;
  for (const Formatted& one : formatted) kinds.push_back(one.kind);
  return kinds;
}

std::vector<std::vector<FileSystemLimits>> PlannedVolumes::limits() const {
  const auto with = [&](const FileSystemLimits* of_formatted) {
    std::vector<FileSystemLimits> limits;
    for (std::size_t role = 0; role < count; ++role) {
      const FileSystemLimits* file_system_limits = directory(role);
      if (!file_system_limits) file_system_limits = of_formatted;
      if (file_system_limits) limits.push_back(*file_system_limits);
    }
    return limits;
  };
  std::vector<std::vector<FileSystemLimits>> all;
  for (const Formatted& one : formatted) all.push_back(with(&one.limits));
  if (formatted.empty() && !directories.empty()) all.push_back(with(nullptr));
  return all;
}

const FileSystemLimits* PlannedVolumes::directory(std::size_t role) const {
  return role < directories.size() && directories[role] ? &*directories[role] : nullptr;
}

double creation_seconds(const FileSetTotals& totals) {
  constexpr double kFileWeight = 64 << 10;
  return (static_cast<double>(totals.bytes) + static_cast<double>(totals.files) * kFileWeight) /
         kAssumedRate;
}

JobRecord common_record(JobKind kind, const std::string& name, const JobOptions& options) {
  JobRecord record{.kind = kind,
                   .name = options.name.empty() ? name : options.name,
                   .scale = options.scale,
                   .warm = options.warm,
                   .settings = {},
                   .axes = {}};
  record.settings = condition_settings(options.condition);
  if (info_of(kind).replays) return record;  // each measurement records how it was replayed
  if (options.engine) {
    record.settings.emplace_back("engine", std::string(engine_name(*options.engine)));
  }
  if (options.verify != Verification::results) {
    record.settings.emplace_back("verify", std::string(verification_name(options.verify)));
  }
  return record;
}

}  // namespace filereel
