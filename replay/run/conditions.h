// Observes the rest of the machine while samples are taken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "filesets/system/control_groups.h"
#include "replay/results/result.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Describes the machine that runs are measured on.
HostInfo describe_host();

// Processor time since boot, in ticks of all processors together.
struct ProcessorTimes {
  std::uint64_t all = 0, user = 0, stolen = 0;
  double own_user_s = 0;  // of this process
};
ProcessorTimes read_processor_times(const std::string& stat = "/proc/stat");

// Shares between two looks; `drivers_s` is the processor time of FUSE drivers between them. Only
// the user time of other processes counts: kernel time for them cannot be separated from kernel
// time for filereel (loop devices, write-back). Adds nothing if the time is too short.
void add_processor_shares(const ProcessorTimes& before, const ProcessorTimes& after,
                          double drivers_s, Conditions& conditions);

// A look at the control groups of this process.
struct GroupLook {
  ControlGroupUse use;
  std::uint64_t at_ns = 0;  // now_ns
};
GroupLook look_at_groups();
// The same without the memory limit, which takes less time. `groups`: processor_groups.
GroupLook look_at_groups(const std::vector<ControlGroup>& groups);

// What the groups did between two looks.
void add_group_use(const GroupLook& before, const GroupLook& after, Conditions& conditions);

// How often the process was continued after a stop (SIGCONT), and for how long the machine was
// suspended since boot. A process that only waits for its turn is neither.
struct Stops {
  std::uint64_t continued = 0;
  double suspended_s = 0;
};
Stops look_at_stops(const std::function<std::uint64_t()>& continued);

void add_stops(const Stops& before, const Stops& after, Conditions& conditions);

// Extends the range of the cores' clock rates by the current ones. `cpus` is the kernel's directory
// of processors. `cpuinfo` is read if it has no frequencies.
void add_clock_rates(Conditions& conditions, const std::string& cpus = "/sys/devices/system/cpu",
                     const std::string& cpuinfo = "/proc/cpuinfo");

// Waits a moment without I/O of filereel's own, and counts the traffic of the volumes' drives. Does
// not wait if there are none.
void measure_idle_traffic(const std::vector<Volume*>& volumes, Conditions& conditions);

// The share of a volume in use, counted as by `df`; nothing if unknown.
std::optional<double> used_share(const Volume& volume);
void add_volume_used(const Volume& volume, Conditions& conditions);

}  // namespace filereel
