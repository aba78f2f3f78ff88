#include "replay/volumes/processes.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/read_file.h"

namespace filereel {
namespace {

std::vector<pid_t> all_processes() {
  std::vector<pid_t> processes;
  for (const std::string& name : names_at("/proc")) {
    if (const auto number = parse_number<pid_t>(name)) processes.push_back(*number);
  }
  return processes;
}

// The state of an open /dev/fuse of the process, from its fdinfo; "" if it has none.
std::string fuse_device_of(pid_t process) {
  const std::string folder = fmt::format("/proc/{}", process);
  for (const std::string& number : names_at(folder + "/fd")) {
    if (link_text(folder + "/fd/" + number) != "/dev/fuse") continue;
    return read_sysfs(folder + "/fdinfo/" + number);
  }
  return "";
}

bool has_argument(pid_t process, const std::string& wanted) {
  const std::string words = read_sysfs(fmt::format("/proc/{}/cmdline", process)) + '\0';
  return words.contains('\0' + wanted + '\0');
}

// Processor time in seconds; of children, that of those waited for.
struct ProcessTimes {
  double user = 0, system = 0, children_user = 0;
};
std::optional<ProcessTimes> times_of(pid_t process) {
  // Fields 14 to 16. Parsed after the name in parentheses, which may contain anything (proc(5)).
  const std::string stat = read_sysfs(fmt::format("/proc/{}/stat", process));
  const std::size_t name_end = stat.rfind(')');
  unsigned long user = 0, system = 0, children_user = 0;
  if (name_end == std::string::npos ||
      sscanf(stat.c_str() + name_end + 1,  // NOLINT(cert-err34-c): the kernel's own digits
             " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu", &user, &system,
             &children_user) != 3) {
    return std::nullopt;
  }
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  return ProcessTimes{static_cast<double>(user) / tick, static_cast<double>(system) / tick,
                      static_cast<double>(children_user) / tick};
}

}  // namespace

double process_cpu_s(pid_t process) {
  const ProcessTimes times = times_of(process).value_or(ProcessTimes{});
  return times.user + times.system;
}

std::optional<double> process_user_s(pid_t process) {
  const std::optional<ProcessTimes> times = times_of(process);
  if (!times) return std::nullopt;
  return times->user + times->children_user;
}

std::optional<pid_t> fuse_driver_of(const MountedFileSystem& mounted) {
  if (!mounted.type.starts_with("fuse")) return std::nullopt;
  constexpr std::string_view kConnection = "fuse_connection:";
  const std::string number = std::to_string(fuse_connection(mounted));
  for (const pid_t process : all_processes()) {
    const std::string device = fuse_device_of(process);
    if (device.empty()) continue;
    const std::size_t at = device.find(kConnection);
    if (at == std::string::npos) {
      if (has_argument(process, mounted.mount_point)) return process;
      continue;
    }
    const std::size_t first = device.find_first_not_of(" \t", at + kConnection.size());
    if (first == std::string::npos) continue;
    if (device.substr(first, device.find_first_of(" \n", first) - first) == number) return process;
  }
  return std::nullopt;
}

}  // namespace filereel
