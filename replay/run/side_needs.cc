#include "replay/run/side_needs.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/types.h>

#include "filesets/system/error.h"
#include "filesets/system/project_quota.h"
#include "filesets/system/units.h"
#include "replay/run/room.h"

namespace filereel {
namespace {

const VolumeNeeds& needs_of(const SideNeeds::OfJob& job, Role role) {
  return job.needs.volumes[static_cast<std::size_t>(role)];
}

void check_alone(const UntouchedVolume& one) {
  const std::uint64_t bytes = one.volume->capacity();
  const bool has_quota = one.volume->host().has_quota;
  for (const SideNeeds::OfJob& job : one.needs->jobs) {
    const VolumeNeeds& needs = needs_of(job, one.role);
    if (one.kind == TargetKind::directory) {
      check_capacity(needs, job.trees, bytes, one.volume->free_entries(), one.name,
                     with_quota_advice(has_quota, job.advice));
    } else {
      check_formatted_capacity(needs, bytes, one.name, job.advice);
    }
  }
}

// What a job takes of the file system below. Directories are cleared after each job; images stay.
std::uint64_t taken_by(const UntouchedVolume& one, const HostSpace& host, std::size_t job) {
  if (one.kind != TargetKind::directory) return host.taken;
  if (job >= one.needs->jobs.size()) return 0;
  const SideNeeds::OfJob& of_job = one.needs->jobs[job];
  return needs_of(of_job, one.role).least * of_job.trees;
}

// Volumes with files on the same file system.
class SharedHost {
 public:
  void add(const UntouchedVolume& volume, const HostSpace& host) {
    volumes_.emplace_back(&volume, host);
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
  for (const OfJob& job : jobs) size = std::max(size, needs_of(job, role).image);
  return size;
}

void check_space(std::span<const UntouchedVolume> volumes) {
  std::map<dev_t, SharedHost> hosts;
  for (const UntouchedVolume& one : volumes) {
    check_alone(one);
    const HostSpace host = one.volume->host();
    if (host.file_system != 0) hosts[host.file_system].add(one, host);
  }
  for (const auto& [file_system, host] : hosts) host.check();
}

}  // namespace filereel
