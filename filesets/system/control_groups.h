// The control groups of this process: where they are, and what they do to its processor time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/mounts.h"

namespace filereel {

// The directory of a group.
struct ControlGroup {
  std::string directory;
  bool second_version = false;
};

// The group of `membership` (/proc/PID/cgroup) and its parents, as far as they are mounted, for a
// controller such as "memory"; of either version. The groups of one hierarchy come from the inside
// out.
std::vector<ControlGroup> control_groups(const std::string& membership,
                                         const std::vector<MountedFileSystem>& mounts,
                                         std::string_view controller);

// Those of this process for processor time; of another one, if it still exists.
std::vector<ControlGroup> processor_groups();
std::vector<ControlGroup> processor_groups(std::uint32_t process);

// The quota of processor time of one group, and its use.
struct CpuQuota {
  double cores = 0;  // 0: none
  std::uint64_t periods = 0, throttled_periods = 0;
  double throttled_s = 0;  // over all processors
};

// Of one group; nothing if its files are missing.
std::optional<CpuQuota> read_cpu_quota(const ControlGroup& group);

// How long a quota made a group wait between two looks.
struct Throttling {
  double cores = 0;  // the quota
  double periods = 0, throttled_periods = 0;
  double throttled_s = 0;  // over all processors

  // More than one period of a hundred.
  bool matters() const;
  // The wait of another time, under the same quota.
  void add(const Throttling& other);
};
// Of the group that waited longest. Nothing without a quota, or if the groups are not the same.
std::optional<Throttling> throttling_between(std::span<const CpuQuota> before,
                                             std::span<const CpuQuota> after);

// Microseconds since the start in which some task waited ("some total" of PSI); nothing if the
// kernel does not say.
struct Pressure {
  std::optional<std::uint64_t> cpu_us, io_us, memory_us;
};

// The first directory of `groups` that has the files, otherwise those of the machine.
Pressure read_pressure(const std::vector<ControlGroup>& groups,
                       const std::string& machine = "/proc/pressure");

// What the groups of this process allow, and what has been used so far.
struct ControlGroupUse {
  std::vector<CpuQuota> quotas;               // of groups that have the files, from the inside out
  std::optional<std::uint64_t> memory_limit;  // bytes; 0: none; nothing: no groups are visible
  Pressure pressure;

  // Of the tightest group, in cores; 0: none; nothing: unknown.
  std::optional<double> cpu_quota() const;
};
ControlGroupUse read_group_use();
// Of known groups, without the memory limit: reads only what changes.
ControlGroupUse read_group_use(const std::vector<ControlGroup>& groups,
                               const std::string& pressure_of_machine = "/proc/pressure");
ControlGroupUse read_group_use(const std::string& membership,
                               const std::vector<MountedFileSystem>& mounts,
                               const std::string& pressure_of_machine);

// Processors that this process may use (sched_setaffinity, taskset, cpuset): their number, and the
// kernel's list of them, such as "0-3".
struct UsableProcessors {
  std::uint32_t count = 0;
  std::string list;
};
UsableProcessors usable_processors();

}  // namespace filereel
