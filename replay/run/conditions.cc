#include "replay/run/conditions.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "filesets/system/control_groups.h"
#include "filesets/system/read_file.h"
#include "replay/measure/clock.h"
#include "replay/volumes/block_device.h"

namespace filereel {
namespace {

// From the first processor; "" if the kernel does not report it.
std::string cpu_info(std::string_view key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

// "model name : …" on x86. Machines with arm64 have a device tree with their model, which ends with
// a zero byte, or only the numbers of the processor's designer and design.
std::string cpu_model() {
  std::string model = cpu_info("model name");
  if (model.empty()) model = read_sysfs("/proc/device-tree/model");
  model.resize(std::min(model.find('\0'), model.size()));
  if (const std::string part = cpu_info("CPU part"); model.empty() && !part.empty()) {
    model = fmt::format("implementer {}, part {}", cpu_info("CPU implementer"), part);
  }
  return model;
}

bool exists(const char* path) {
  return access(path, F_OK) == 0;
}

// Containers are told apart by what their runtimes leave behind (systemd, Docker, Podman, LXC);
// virtual machines by the processor flag that hypervisors set on x86, and by their device tree or
// firmware names on arm64.
std::string kind_of_machine() {
  for (const char* mark : {"/run/systemd/container", "/.dockerenv", "/run/.containerenv"}) {
    if (exists(mark)) return "container";
  }
  std::ifstream first("/proc/1/environ");
  for (std::string variable; std::getline(first, variable, '\0');) {
    if (variable.starts_with("container=")) return "container";
  }
  const std::string flags = cpu_info("flags");
  if (flags.find(" hypervisor") != std::string::npos) return "virtual";
  if (exists("/proc/device-tree/hypervisor") || exists("/sys/hypervisor/type")) return "virtual";
  const std::string vendor = read_sysfs("/sys/class/dmi/id/sys_vendor");
  for (const std::string_view maker : {"QEMU", "KVM", "Amazon EC2", "Google", "VMware", "Xen"}) {
    if (vendor.starts_with(maker)) return "virtual";
  }
  return "physical";
}

}  // namespace

HostInfo describe_host() {
  HostInfo host;
  host.cpu = cpu_model();
  UsableProcessors processors = usable_processors();
  host.cores = processors.count;
  host.cpu_set = std::move(processors.list);
  const ControlGroupUse groups = read_group_use();
  host.cpu_quota = groups.cpu_quota();
  host.memory_limit = groups.memory_limit;
  host.memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  utsname name{};
  if (uname(&name) == 0) {
    host.kernel = name.release;
    host.kernel_build = name.version;
  }
  host.machine = kind_of_machine();
  host.microcode = cpu_info("microcode");
  host.governor = read_sysfs("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  host.clock_source =
      read_sysfs("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return host;
}

namespace {

// Long enough to detect other I/O on a drive, short compared with a step.
constexpr auto kRest = std::chrono::milliseconds(25);
// A tick is 10 ms of one processor: of fewer than this many, one more or less is over 10 %. Readers
// take the median of many samples.
constexpr std::uint64_t kFewestTicks = 8;
// Reading the clock rate of a sleeping core can take milliseconds.
constexpr int kMostCores = 16;

// Bytes transferred by all drives of the volumes.
std::optional<std::uint64_t> traffic(const std::set<std::string>& drives) {
  std::optional<std::uint64_t> sum;
  for (const std::string& drive : drives) {
    if (const std::optional<DeviceCounters> counters = read_drive_counters(drive)) {
      sum = sum.value_or(0) + counters->read + counters->written;
    }
  }
  return sum;
}

double share(std::uint64_t before, std::uint64_t after, double whole) {
  return after > before ? static_cast<double>(after - before) / whole : 0.0;
}

}  // namespace

ProcessorTimes read_processor_times(const std::string& stat) {
  ProcessorTimes look;
  // cpu user nice system idle iowait irq softirq steal …; guests are in user and nice (proc(5)).
  std::ifstream in(stat);
  std::string name;
  std::uint64_t field[8] = {};
  in >> name;
  for (std::uint64_t& value : field) {
    if (!(in >> value)) return {};
    look.all += value;
  }
  look.user = field[0] + field[1];
  look.stolen = field[7];
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {  // also of copy commands
    rusage used{};
    getrusage(whose, &used);
    look.own_user_s += static_cast<double>(used.ru_utime.tv_sec) +
                       static_cast<double>(used.ru_utime.tv_usec) * 1e-6;
  }
  return look;
}

void add_processor_shares(const ProcessorTimes& before, const ProcessorTimes& after,
                          double drivers_s, Conditions& conditions) {
  if (before.all == 0 || after.all < before.all + kFewestTicks) return;
  const auto whole = static_cast<double>(after.all - before.all);
  const double own = (after.own_user_s - before.own_user_s + drivers_s) *
                     static_cast<double>(sysconf(_SC_CLK_TCK)) / whole;
  conditions.other_cpu = std::clamp(share(before.user, after.user, whole) - own, 0.0, 1.0);
  conditions.stolen_cpu = share(before.stolen, after.stolen, whole);
}

GroupLook look_at_groups() {
  return {read_group_use(), now_ns()};
}

GroupLook look_at_groups(const std::vector<ControlGroup>& groups) {
  return {read_group_use(groups), now_ns()};
}

void add_group_use(const GroupLook& before, const GroupLook& after, Conditions& conditions) {
  conditions.cpu_quota = after.use.cpu_quota();
  if (after.use.memory_limit) {
    conditions.memory_limit = static_cast<double>(*after.use.memory_limit);
  }
  if (const auto throttling = throttling_between(before.use.quotas, after.use.quotas)) {
    conditions.cpu_throttled_s = throttling->throttled_s;
    conditions.cpu_periods = throttling->periods;
    conditions.cpu_throttled_periods = throttling->throttled_periods;
  }
  const double us =
      after.at_ns > before.at_ns ? static_cast<double>(after.at_ns - before.at_ns) * 1e-3 : 0.0;
  const auto add = [&](const std::optional<std::uint64_t> Pressure::* resource,
                       std::optional<double>& share) {
    const auto &first = before.use.pressure.*resource, &last = after.use.pressure.*resource;
    if (!first || !last || *last < *first || us <= 0) return;
    share = std::min(1.0, static_cast<double>(*last - *first) / us);
  };
  add(&Pressure::cpu_us, conditions.cpu_pressure);
  add(&Pressure::io_us, conditions.io_pressure);
  add(&Pressure::memory_us, conditions.memory_pressure);
}

Stops look_at_stops(const std::function<std::uint64_t()>& continued) {
  const auto seconds = [](clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  return {.continued = continued ? continued() : 0,
          .suspended_s = seconds(CLOCK_BOOTTIME) - seconds(CLOCK_MONOTONIC)};
}

void add_stops(const Stops& before, const Stops& after, Conditions& conditions) {
  // The two clocks are read one after the other, and in between the process may have to wait.
  constexpr double kLeastSuspend = 1;
  const bool suspended = after.suspended_s - before.suspended_s > kLeastSuspend;
  const std::uint64_t stops = after.continued - before.continued + (suspended ? 1 : 0);
  if (stops > 0) conditions.stops = static_cast<double>(stops);
}

void add_clock_rates(Conditions& conditions, const std::string& cpus, const std::string& cpuinfo) {
  const auto add = [&](double mhz) {
    if (mhz <= 0) return;
    conditions.cpu_mhz_low = std::min(conditions.cpu_mhz_low.value_or(mhz), mhz);
    conditions.cpu_mhz_high = std::max(conditions.cpu_mhz_high.value_or(mhz), mhz);
  };
  bool found = false;
  for (int core = 0; core < kMostCores; ++core) {
    const std::string khz =
        read_sysfs(fmt::format("{}/cpu{}/cpufreq/scaling_cur_freq", cpus, core));
    if (khz.empty()) continue;
    found = true;
    add(strtod(khz.c_str(), nullptr) / 1e3);
  }
  if (found) return;
  std::ifstream in(cpuinfo);
  int cores = 0;
  for (std::string line; cores < kMostCores && std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("cpu MHz") || colon == std::string::npos) continue;
    add(strtod(line.c_str() + colon + 2, nullptr));
    ++cores;
  }
}

void measure_idle_traffic(const std::vector<Volume*>& volumes, Conditions& conditions) {
  std::set<std::string> drives;
  for (const Volume* volume : volumes) {
    for (const DeviceIdentity& drive : volume->describe().drives) drives.insert(drive.name);
  }
  const std::optional<std::uint64_t> before = traffic(drives);
  if (!before) return;
  const std::uint64_t begin = now_ns();
  std::this_thread::sleep_for(kRest);
  const std::uint64_t after = traffic(drives).value_or(*before);
  const double seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  conditions.idle_device_bytes_per_s =
      after > *before ? static_cast<double>(after - *before) / seconds : 0.0;
}

std::optional<double> used_share(const Volume& volume) {
  const std::optional<VolumeSpace> space = volume.space();
  return space ? std::optional(space->used_share()) : std::nullopt;
}

void add_volume_used(const Volume& volume, Conditions& conditions) {
  if (const std::optional<double> used = used_share(volume)) conditions.volume_used = used;
}

}  // namespace filereel
