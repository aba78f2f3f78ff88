// The capabilities of this machine, for `filereel doctor`.
#pragma once

#include <string>
#include <vector>

#include "replay/volumes/mount.h"

namespace filereel {

struct FileSystemCapability {
  FileSystemKind kind;
  bool can_make = false;    // the mkfs program is installed
  bool has_kernel = false;  // the kernel has the driver
  bool has_fuse = false;    // a FUSE driver is installed
  std::string driver;       // used by a run now: "kernel", the FUSE program, or "" for none
  std::string advice;       // how to get it, or a better driver; "" if nothing is missing
};

struct Capabilities {
  MountCapability power = MountCapability::none;
  bool loop_devices = false;
  bool fuse = false;
  bool drops_caches = false;  // of the whole machine
  bool cachestat = false;     // otherwise mincore measures what is cached
  bool openat2 = false;       // every replay needs it
  std::vector<FileSystemCapability> file_systems;
};

// Probes the machine, without lasting effect.
Capabilities probe_capabilities();

}  // namespace filereel
