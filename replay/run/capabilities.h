// The capabilities of this machine, for `filereel doctor`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/volumes/mount.h"

namespace filereel {

struct FileSystemCapability {
  FileSystemKind kind;
  bool can_make = false;    // the mkfs program is installed
  bool has_kernel = false;  // the kernel has the driver
  bool has_fuse = false;    // a FUSE driver is installed
  std::string driver;       // used by a run now: "kernel", the FUSE program, or "" for none
  std::vector<std::string_view> missing;  // programs to install for it, or for a better driver
  std::string advice;                     // what else to do; "" if nothing
};

struct Capabilities {
  MountCapability power = MountCapability::none;
  bool loop_devices = false;
  bool fuse = false;
  bool drops_caches = false;  // of the whole machine
  bool cachestat = false;     // otherwise mincore measures what is cached
  std::vector<FileSystemCapability> file_systems;
  // Programs that are not installed, each once: those of the file systems, strace and fio.
  std::vector<std::string_view> missing;
};

// Probes the machine, without lasting effect.
Capabilities probe_capabilities();

}  // namespace filereel
