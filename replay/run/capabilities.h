// What this machine can do, for `filereel doctor`.
#pragma once

#include <string>
#include <vector>

#include "replay/volumes/mount.h"

namespace filereel {

struct FileSystemCapability {
  FileSystemKind kind;
  bool can_make = false;    // the mkfs program is there
  bool has_kernel = false;  // the kernel has the driver
  bool has_fuse = false;    // a FUSE driver is there
  std::string driver;       // what a run would use now: "kernel", the FUSE program, or "" for none
  std::string advice;       // what to do to get it, or to get the better driver; "" if nothing
};

struct Capabilities {
  MountPower power = MountPower::none;
  bool loop_devices = false;
  bool fuse = false;
  bool drops_caches = false;  // of the whole machine
  bool cachestat = false;     // else mincore measures what is cached
  bool openat2 = false;       // needed for everything that replays
  std::vector<FileSystemCapability> file_systems;
};

// Tries things out, without lasting effect.
Capabilities probe_capabilities();

}  // namespace filereel
