#include "replay/run/capabilities.h"

#include <algorithm>
#include <iterator>

#include <unistd.h>

#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/page_cache.h"

namespace filereel {
namespace {

FileSystemCapability probe(const FileSystemInfo& info, MountCapability power) {
  FileSystemCapability found;
  found.kind = info.kind;
  found.can_make = find_program(info.make_program).has_value();
  found.has_kernel = kernel_has(info);
  found.has_fuse = fuse_has(info);
  if (found.can_make) {
    if (const std::optional<Driver> driver = choose_driver(info.kind, power)) {
      found.driver = driver->kernel ? "kernel" : driver->name;
    }
  }
  if (!found.can_make) found.missing.push_back(info.make_program);
  const bool wants_fuse = !found.has_kernel || power != MountCapability::full;
  if (wants_fuse && !info.fuse_program.empty() && !find_program(info.fuse_program)) {
    found.missing.push_back(info.fuse_program);
  }
  if (found.missing.empty() && found.driver.empty()) {
    found.advice = !has_proc()                      ? "mount /proc"
                   : power == MountCapability::full ? "use a kernel that supports it"
                                                    : root_advice("run as root", kAllowMounts);
  }
  return found;
}

}  // namespace

Capabilities probe_capabilities() {
  Capabilities found;
  found.power = probe_mount_capability();
  found.loop_devices = loop_devices_available();
  found.fuse = access("/dev/fuse", R_OK | W_OK) == 0;
  found.drops_caches = access("/proc/sys/vm/drop_caches", W_OK) == 0;
  found.cachestat = has_cachestat();
  for (const FileSystemInfo& info : file_systems()) {
    found.file_systems.push_back(probe(info, found.power));
    std::ranges::copy(found.file_systems.back().missing, std::back_inserter(found.missing));
  }
  for (const std::string_view program : {"strace", "fio"}) {
    if (!find_program(program)) found.missing.push_back(program);
  }
  return found;
}

}  // namespace filereel
