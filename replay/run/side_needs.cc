#include "replay/run/side_needs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/types.h>

#include "filesets/ownership/lease.h"
#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
#include "filesets/system/limits.h"
#include "filesets/system/units.h"
#include "replay/jobs/room.h"

namespace filereel {
namespace {

const VolumeNeeds& needs_of(const SideNeeds::OfJob& job, Role role) {
  return job.needs.volumes[static_cast<std::size_t>(role)];
}

// Formats and mounts a sparse file of `bytes` bytes. Nothing if that fails: the machine may lack
// space for it.
std::optional<FreshSpace> try_format(const Format& format, std::uint64_t bytes,
                                     MountCapability power) {
  if (bytes > largest_file_of_process()) return std::nullopt;
  try {
    const Target trial{.kind = TargetKind::image,
                       .path = open_state_directory().path + "/trial-" + random_name(),
                       .size = bytes,
                       .temporary = true};
    const std::unique_ptr<Volume> volume = open_volume(trial, {.power = power, .sparse = true});
    volume->take();
    volume->prepare(format);
    const std::optional<std::uint64_t> free = volume->free_bytes();
    if (!free) return std::nullopt;
    return FreshSpace{*free, volume->free_entries()};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The space on fresh file systems, each tried once.
class Trials {
 public:
  explicit Trials(MountCapability power) : power_(power) {}

  const std::optional<FreshSpace>& of(const Format& format, std::uint64_t bytes) {
    const auto [found, added] = known_.try_emplace({format.kind, format.mkfs_options, bytes});
    if (added) found->second = try_format(format, bytes, power_);
    return found->second;
  }

 private:
  MountCapability power_;
  std::map<std::tuple<FileSystemKind, std::vector<std::string>, std::uint64_t>,
           std::optional<FreshSpace>>
      known_;
};

// Of a directory, after a fill.
std::uint64_t capacity_of(const Volume& directory, double filled) {
  const std::uint64_t bytes = directory.capacity();
  const std::optional<VolumeSpace> space = directory.space();
  if (filled <= 0 || !space) return bytes;
  const auto all = static_cast<double>(space->used + space->available);
  return std::min(bytes, static_cast<std::uint64_t>(all * (1 - filled)));
}

void check_job(const UntouchedVolume& untouched, const SideNeeds::OfJob& job,
               const DriveCondition& condition, Trials& trials) {
  const std::uint64_t bytes = untouched.volume->capacity();
  VolumeNeeds needs = needs_of(job, untouched.role);
  needs.filled = condition.fill;
  const std::string advice =
      condition.fill > 0 ? "use a smaller --fill; or " + job.advice : job.advice;
  if (untouched.kind == TargetKind::directory) {
    const bool has_quota = untouched.volume->host().has_quota;
    return check_capacity(needs, job.trees, capacity_of(*untouched.volume, condition.fill),
                          untouched.volume->free_entries(), untouched.name,
                          with_quota_advice(has_quota, advice));
  }
  // A volume with the size of an image for these jobs has space, whatever the file system keeps.
  const bool usual = condition.mkfs_options.empty();
  const bool ample = usual && bytes >= untouched.needs->image(untouched.role);
  const MeasureFresh measure = [&](FileSystemKind kind) {
    return trials.of(condition.format(kind, true), bytes);
  };
  check_formatted_capacity(needs, bytes, untouched.name, advice, ample ? MeasureFresh() : measure,
                           usual);
}

void check_alone(const UntouchedVolume& untouched, Trials& trials) {
  for (const SideNeeds::OfJob& job : untouched.needs->jobs) {
    for (const DriveCondition& condition : job.conditions) {
      check_job(untouched, job, condition, trials);
    }
  }
}

// What a job takes of the file system below. Directories are cleared after each job; images stay.
std::uint64_t taken_by(const UntouchedVolume& untouched, const HostSpace& host, std::size_t job) {
  if (untouched.kind != TargetKind::directory) return host.taken;
  if (job >= untouched.needs->jobs.size()) return 0;
  const SideNeeds::OfJob& of_job = untouched.needs->jobs[job];
  return needs_of(of_job, untouched.role).least * of_job.trees;
}

// Volumes with files on the same file system.
class SharedHost {
 public:
  void add(const UntouchedVolume& untouched, const HostSpace& host) {
    volumes_.emplace_back(&untouched, host);
  }

  void check() const {
    if (volumes_.size() < 2 || !volumes_.front().second.free) return;
    std::uint64_t free = *volumes_.front().second.free;
    std::size_t jobs = 1;
    for (const auto& [volume, host] : volumes_) {
      free += host.freed;
      jobs = std::max(jobs, volume->needs->jobs.size());
    }
    for (std::size_t job = 0; job < jobs; ++job) check(job, free);
  }

 private:
  void check(std::size_t job, std::uint64_t free) const {
    std::uint64_t taken = 0;
    std::vector<std::string> names;
    for (const auto& [volume, host] : volumes_) {
      taken += taken_by(*volume, host, job);
      names.push_back(volume->name);
    }
    if (taken <= free) return;
    throw Error(ErrorKind::failed,
                fmt::format("not enough space on the file system of {}: {} needed together, {} "
                            "free; put them on different ones, or make them smaller (--scale)",
                            fmt::join(names, " and "), format_size(taken), format_size(free)));
  }

  std::vector<std::pair<const UntouchedVolume*, HostSpace>> volumes_;
};

}  // namespace

std::uint64_t SideNeeds::image(Role role) const {
  std::uint64_t size = 0;
  for (const OfJob& job : jobs) {
    double filled = 0;
    for (const DriveCondition& condition : job.conditions)
      filled = std::max(filled, condition.fill);
    const auto files = static_cast<double>(needs_of(job, role).image);
    size = std::max(size, static_cast<std::uint64_t>(std::ceil(files / (1 - filled))));
  }
  constexpr std::uint64_t kUnit = 4 << 20;
  return (size + kUnit - 1) / kUnit * kUnit;
}

void check_space(std::span<const UntouchedVolume> volumes, MountCapability power) {
  Trials trials(power);
  std::map<dev_t, SharedHost> hosts;
  for (const UntouchedVolume& untouched : volumes) {
    check_alone(untouched, trials);
    const HostSpace host = untouched.volume->host();
    if (host.file_system != 0) hosts[host.file_system].add(untouched, host);
  }
  for (const auto& [file_system, host] : hosts) host.check();
}

}  // namespace filereel
