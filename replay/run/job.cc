#include "replay/run/job.h"

#include <fmt/format.h>

namespace filereel {

std::vector<Volume*> Volumes::list(bool with_far) const {
  std::vector<Volume*> list;
  if (near) list.push_back(near);
  if (far && with_far) list.push_back(far);
  return list;
}

std::vector<FileSystemLimits> Volumes::limits() const {
  std::vector<FileSystemLimits> limits;
  for (const Volume* volume : list(true)) limits.push_back(volume->limits());
  if (limits.empty()) limits.emplace_back();
  return limits;
}

std::string Volumes::file_system() const {
  if (!near) return "none";
  const std::string name = near->describe().file_system;
  const std::string other = far ? far->describe().file_system : name;
  return name == other ? name : fmt::format("{} to {}", name, other);
}

JobRecord begun_record(JobKind kind, const std::string& name, const JobOptions& options) {
  JobRecord record{.kind = kind,
                   .name = options.name.empty() ? name : options.name,
                   .scale = options.scale,
                   .warm = options.warm,
                   .settings = {},
                   .axes = {}};
  if (info_of(kind).replays) return record;  // which say in each measurement how they were done
  if (options.engine) {
    record.settings.emplace_back("engine", std::string(engine_name(*options.engine)));
  }
  if (options.verify != Verification::results) {
    record.settings.emplace_back("verify", std::string(verification_name(options.verify)));
  }
  return record;
}

FilesRead files_of(const FileSet& set, const std::function<bool(std::string_view)>& wanted) {
  FilesRead files;
  for (const Entry& entry : set.entries) {
    if (entry.kind != EntryKind::file || (wanted && !wanted(entry.path))) continue;
    files.paths.push_back(entry.path);
    files.bytes += entry.size;
  }
  return files;
}

}  // namespace filereel
