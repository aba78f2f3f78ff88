#include "filesets/system/control_groups.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "filesets/system/limits.h"
#include "filesets/system/read_file.h"

namespace filereel {
namespace {

bool has_word(const std::string& list, std::string_view word) {
  return ("," + list + ",").contains(fmt::format(",{},", word));
}

// The directory of a group named `group` on the mount.
std::string directory_of(const MountedFileSystem& mount, const std::string& group) {
  // In a container, the mount shows a part of the tree, and names may start elsewhere.
  const std::string root = mount.root == "/" ? "" : mount.root;
  if (!group.starts_with(root) || group.contains("..")) return mount.mount_point;
  const std::string below = group.substr(root.size());
  return mount.mount_point + (below == "/" ? "" : below);
}

// "40000 100000" of version 2, where "max" is no quota; two files of version 1, where -1 is none.
std::optional<double> quota_of(const ControlGroup& group) {
  double quota = 0, period = 0;
  if (group.second_version) {
    const std::optional<std::string> text = read_file(group.directory + "/cpu.max", 64);
    if (!text) return std::nullopt;
    std::istringstream words(*text);
    if (!(words >> quota >> period)) return 0;
  } else {
    const auto read = [&](const char* name, double& number) {
      const auto text = read_file(fmt::format("{}/{}", group.directory, name), 64);
      return text && std::istringstream(*text) >> number;
    };
    if (!read("cpu.cfs_quota_us", quota) || !read("cpu.cfs_period_us", period)) return std::nullopt;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234".
std::optional<std::uint64_t> total_in(const std::string& file) {
  std::istringstream words(read_file(file, 256).value_or(""));
  constexpr std::string_view kTotal = "total=";
  for (std::string word; words >> word;) {
    std::uint64_t total = 0;
    if (word == "full") break;
    if (word.starts_with(kTotal) && std::istringstream(word.substr(kTotal.size())) >> total) {
      return total;
    }
  }
  return std::nullopt;
}

Pressure pressure_in(const std::string& directory, std::string_view suffix) {
  const auto file = [&](std::string_view name) {
    return total_in(fmt::format("{}/{}{}", directory, name, suffix));
  };
  return {.cpu_us = file("cpu"), .io_us = file("io"), .memory_us = file("memory")};
}

bool knows(const Pressure& pressure) {
  return pressure.cpu_us || pressure.io_us || pressure.memory_us;
}

}  // namespace

std::vector<ControlGroup> control_groups(const std::string& membership,
                                         const std::vector<MountedFileSystem>& mounts,
                                         std::string_view controller) {
  std::vector<ControlGroup> groups;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // hierarchy:controllers:group
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_second = controllers.empty();
    if (!is_second && !has_word(controllers, controller)) continue;
    for (const MountedFileSystem& mount : mounts) {
      const bool is_its = is_second ? mount.type == "cgroup2"
                                    : mount.type == "cgroup" && has_word(mount.options, controller);
      if (!is_its) continue;
      std::string directory = directory_of(mount, line.substr(second + 1));
      for (;;) {
        groups.push_back({directory, is_second});
        if (directory.size() <= mount.mount_point.size()) break;
        directory.resize(directory.rfind('/'));
      }
      break;  // other mounts of the hierarchy show the same
    }
  }
  return groups;
}

std::vector<ControlGroup> processor_groups() {
  return control_groups(read_file("/proc/self/cgroup").value_or(""), mounted_file_systems(), "cpu");
}

std::vector<ControlGroup> processor_groups(std::uint32_t process) {
  return control_groups(read_file(fmt::format("/proc/{}/cgroup", process)).value_or(""),
                        mounted_file_systems(), "cpu");
}

std::optional<CpuQuota> read_cpu_quota(const ControlGroup& group) {
  const std::optional<double> cores = quota_of(group);
  if (!cores) return std::nullopt;
  const std::string stat = read_file(group.directory + "/cpu.stat", 4096).value_or("");
  CpuQuota quota{.cores = *cores,
                 .periods = number_after(stat, "nr_periods"),
                 .throttled_periods = number_after(stat, "nr_throttled")};
  quota.throttled_s = group.second_version
                          ? static_cast<double>(number_after(stat, "throttled_usec")) * 1e-6
                          : static_cast<double>(number_after(stat, "throttled_time")) * 1e-9;
  return quota;
}

bool Throttling::matters() const {
  constexpr double kMatters = 0.01;
  return periods > 0 && throttled_periods > kMatters * periods;
}

void Throttling::add(const Throttling& other) {
  if (other.periods > 0) cores = other.cores;
  periods += other.periods;
  throttled_periods += other.throttled_periods;
  throttled_s += other.throttled_s;
}

std::optional<Throttling> throttling_between(std::span<const CpuQuota> before,
                                             std::span<const CpuQuota> after) {
  std::optional<Throttling> most;
  if (before.size() != after.size()) return most;  // the process changed its group
  for (std::size_t i = 0; i < after.size(); ++i) {
    const CpuQuota &first = before[i], &last = after[i];
    if (last.cores == 0 || last.periods < first.periods ||
        last.throttled_periods < first.throttled_periods) {
      continue;
    }
    const double seconds = std::max(0.0, last.throttled_s - first.throttled_s);
    if (most && seconds <= most->throttled_s) continue;
    most = Throttling{
        .cores = last.cores,
        .periods = static_cast<double>(last.periods - first.periods),
        .throttled_periods = static_cast<double>(last.throttled_periods - first.throttled_periods),
        .throttled_s = seconds};
  }
  return most;
}

Pressure read_pressure(const std::vector<ControlGroup>& groups, const std::string& machine) {
  for (const ControlGroup& group : groups) {
    if (!group.second_version) continue;
    if (const Pressure own = pressure_in(group.directory, ".pressure"); knows(own)) return own;
  }
  return pressure_in(machine, "");
}

std::optional<double> ControlGroupUse::cpu_quota() const {
  if (quotas.empty()) return std::nullopt;
  double least = 0;
  for (const CpuQuota& quota : quotas) {
    if (quota.cores > 0 && (least == 0 || quota.cores < least)) least = quota.cores;
  }
  return least;
}

ControlGroupUse read_group_use(const std::vector<ControlGroup>& groups,
                               const std::string& pressure_of_machine) {
  ControlGroupUse use;
  for (const ControlGroup& group : groups) {
    if (const std::optional<CpuQuota> quota = read_cpu_quota(group)) use.quotas.push_back(*quota);
  }
  use.pressure = read_pressure(groups, pressure_of_machine);
  return use;
}

ControlGroupUse read_group_use(const std::string& membership,
                               const std::vector<MountedFileSystem>& mounts,
                               const std::string& pressure_of_machine) {
  ControlGroupUse use =
      read_group_use(control_groups(membership, mounts, "cpu"), pressure_of_machine);
  if (!control_groups(membership, mounts, "memory").empty()) {
    std::uint64_t least = 0;
    for (const MemoryLimit& limit : cgroup_memory_limits(membership, mounts)) {
      if (least == 0 || limit.bytes < least) least = limit.bytes;
    }
    use.memory_limit = least;
  }
  return use;
}

ControlGroupUse read_group_use() {
  return read_group_use(read_file("/proc/self/cgroup").value_or(""), mounted_file_systems(),
                        "/proc/pressure");
}

UsableProcessors usable_processors() {
  UsableProcessors usable;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    if (words >> key && key == "Cpus_allowed_list:") words >> usable.list;
  }
  // The kernel refuses sets smaller than its own.
  constexpr std::size_t kLargest = 1 << 20;
  for (std::size_t size = 1024; size <= kLargest; size *= 2) {
    std::vector<cpu_set_t> set(size / (8 * sizeof(cpu_set_t)));
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) != 0) continue;
    usable.count = static_cast<std::uint32_t>(CPU_COUNT_S(bytes, set.data()));
    break;
  }
  if (usable.count == 0) usable.count = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  return usable;
}

}  // namespace filereel
