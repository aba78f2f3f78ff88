#include "filesets/system/program_privileges.h"

#include <array>
#include <cstdint>
#include <optional>

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

// The kernel ignores the bits of a script.
bool is_script(int fd) {
  std::array<char, 2> begin{};
  return pread(fd, begin.data(), begin.size(), 0) == 2 && begin[0] == '#' && begin[1] == '!';
}

}  // namespace

std::string privileges_lost_to_tracing(const std::string& command) {
  const bool is_path = command.contains('/');
  const std::optional<std::string> path = is_path ? command : find_program(command);
  if (!path || may_trace_anything()) return "";
  struct stat status{};
  struct statvfs volume{};
  if (stat(path->c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  if (statvfs(path->c_str(), &volume) != 0 || (volume.f_flag & ST_NOSUID) != 0) return "";
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return "";
  // Programs with such bits often cannot be read by others; then it is no script.
  const Descriptor file(open(path->c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file && is_script(file.get())) return "";
  std::string lost;
  const auto add = [&](const char* what) {
    if (!lost.empty()) lost += ", ";
    lost += what;
  };
  const bool sets_group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) add("set-user-ID");
  if (sets_group && status.st_gid != getegid()) add("set-group-ID");
  if (getxattr(path->c_str(), "security.capability", nullptr, 0) > 0) add("capabilities");
  return lost;
}

}  // namespace filereel
