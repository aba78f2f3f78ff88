#include "filesets/system/program_privileges.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/process.h"

namespace filereel {
namespace {

bool may_trace_anything() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return false;
  return (sets[CAP_SYS_PTRACE / 32].effective >> CAP_SYS_PTRACE % 32 & 1) != 0;
}

// The interpreter in the first line of a script; empty: no script.
std::string interpreter_of(int fd) {
  constexpr std::string_view kBegin = "#!", kBlank = " \t";
  std::array<char, 256> begin{};  // as much as the kernel reads
  const ssize_t size = pread(fd, begin.data(), begin.size(), 0);
  std::string_view line(begin.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (!line.starts_with(kBegin)) return {};
  line = line.substr(kBegin.size(), line.find('\n') - kBegin.size());
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  return std::string(line.substr(0, line.find_first_of(kBlank)));
}

// The kernel follows this many.
constexpr int kMostInterpreters = 5;

std::string lost_by(const std::string& path, int interpreters) {
  struct stat status{};
  struct statvfs volume{};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  // Programs with such bits often cannot be read by others; then it is no script.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  // The kernel ignores the bits of a script.
  const std::string interpreter = file ? interpreter_of(file.get()) : std::string();
  if (!interpreter.empty()) return interpreters > 0 ? lost_by(interpreter, interpreters - 1) : "";
  if (statvfs(path.c_str(), &volume) != 0 || (volume.f_flag & ST_NOSUID) != 0) return "";
  std::string lost;
  const auto add = [&](const char* what) {
    if (!lost.empty()) lost += ", ";
    lost += what;
  };
  const bool sets_group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) add("set-user-ID");
  if (sets_group && status.st_gid != getegid()) add("set-group-ID");
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) add("capabilities");
  return lost;
}

}  // namespace

std::string privileges_lost_to_tracing(const std::string& command) {
  const std::optional<std::string> path = file_of_command(command);
  if (!path || may_trace_anything() || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return "";
  return lost_by(*path, kMostInterpreters);
}

}  // namespace filereel
