// Mounts that may stop responding: those of network file systems and of FUSE programs. A call on
// such a mount then waits until the server is back, possibly for ever and without a way to end the
// process. What does not concern the mount must therefore never touch it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/mount_info.h"

namespace filereel {

// Whether a file system of this type (of mountinfo) is reached through a network or a program.
bool is_remote(std::string_view type);

// "/mnt/nas (fuse.sshfs) does not respond".
std::string silence_text(const MountedFileSystem& mounted);
// What ends the calls that wait for it: "'umount -f /mnt/nas'".
std::string release_advice(const MountedFileSystem& mounted);

class RemoteMounts {
 public:
  // Those there are now, of a process.
  explicit RemoteMounts(const std::string& mountinfo = "/proc/self/mountinfo");

  // The first of them on the way to the absolute `path`, found without touching it: by the names of
  // mount points, and the symbolic links before the first of them. Nothing if there is none.
  std::optional<MountedFileSystem> on_way_to(const std::string& path) const;

  // Source and mount point of that one, which tell a share from another one that is mounted there
  // later; "" if there is none, or it is on a drive, which may be another one by then.
  std::string share_at(const std::string& path) const;

  // The text that `work` returns, which uses the path. If such a mount is on the way, the work is
  // done in a child process (run_apart.h); nothing if there is no answer within two seconds, and
  // from then on for all paths on that mount. `waits_on`: of run_apart.
  std::optional<std::string> ask(const std::string& path, const std::function<std::string()>& work,
                                 const std::function<bool()>& waits_on = {});

  // Whether the mount at, or on the way to, the path responds; true if there is none.
  bool responds(const std::string& path);

 private:
  const MountedFileSystem* at(const std::string& mount_point) const;

  std::vector<MountedFileSystem> mounts_;
  std::set<std::string> silent_;  // mount points
};

}  // namespace filereel
