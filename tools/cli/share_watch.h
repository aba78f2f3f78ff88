// Says that a share does not respond while a command waits for it.
#pragma once

#include <string>
#include <vector>

#include "filesets/system/descriptor.h"

namespace filereel {

// The network and FUSE mounts on the way to the paths that do not respond within two seconds each:
// "/mnt/nas (fuse.sshfs) does not respond: filereel ends when it does, or after …"; "" if there are
// none. Neither this nor ShareWatch touches them, except in child processes.
std::string silent_shares(const std::vector<std::string>& paths);

// A process that looks at such mounts every three seconds, unless this one is at work. When one
// stops responding, it writes a line to standard error and waits for the mount: also while this
// process hangs, before it has begun and after it was interrupted. Without such mounts on the way
// there is no process. Create it before there are threads.
class ShareWatch {
 public:
  explicit ShareWatch(const std::vector<std::string>& paths);
  ShareWatch(const ShareWatch&) = delete;
  ShareWatch& operator=(const ShareWatch&) = delete;

 private:
  Descriptor pipe_;  // its end ends the process
};

}  // namespace filereel
