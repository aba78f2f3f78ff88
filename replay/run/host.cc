#include "replay/run/host.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "filesets/system/control_groups.h"
#include "replay/volumes/sysfs.h"

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
  for (std::string one; std::getline(first, one, '\0');) {
    if (one.starts_with("container=")) return "container";
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

}  // namespace filereel
