// Mounted file systems, and those that may stop responding.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace filereel {

// --- Mounted file systems, read from the kernel.

// A line of /proc/self/mountinfo.
struct MountedFileSystem {
  dev_t device = 0;
  std::string root;  // mounted subtree of the file system; "/": all of it
  std::string mount_point;
  std::string type;     // "ext4", "fuseblk", "fuse.fusefat"
  std::string source;   // "/dev/sda1"
  std::string options;  // of the mount and of the file system
};

// `line` is one of mountinfo; nothing if it is invalid.
std::optional<MountedFileSystem> parse_mount(const std::string& line);

std::vector<MountedFileSystem> mounted_file_systems();

// The number of a mounted FUSE file system in /sys/fs/fuse/connections.
unsigned fuse_connection(const MountedFileSystem& mounted);

// Each option once: "rw,relatime" of "rw,relatime,rw", which the kernel reports for the mount and
// for the file system.
std::string distinct_options(const std::string& options);

// The value of an option: "tcp" of "rw,vers=4.2,proto=tcp" for "proto"; "" if it is missing.
std::string mount_option(const std::string& options, const std::string& name);

// `path`, or the nearest directory above it that exists.
std::string existing_path(const std::string& path);

// Returns the mount that contains `path`; nothing if unknown.
std::optional<MountedFileSystem> mounted_at(const std::string& path);

// --- Runs work in a child process, because a call on a volume that does not respond may never
// return: a thread or process in such a call cannot be ended, not even by SIGKILL, but a child can
// be left behind.

// The text that `work` returns in a child process, which has no files open and so holds no locks.
// Nothing if it throws, or takes longer than `patience_s`: the child is then killed, which takes
// effect when its call returns. `waits_on` is asked each time the patience ends, and gives more of
// it by true. If no process can be started, the work is done in this one.
std::optional<std::string> run_apart(const std::function<std::string()>& work, double patience_s,
                                     const std::function<bool()>& waits_on = {});

// --- Mounts that may stop responding: those of network file systems and of FUSE programs. A call
// on such a mount then waits until the server is back, possibly for ever and without a way to end
// the process. What does not concern the mount must therefore never touch it.

// A type of file system (of mountinfo) that depends on another machine.
struct NetworkType {
  std::string_view type;
  std::string_view protocol = {};  // of the server; "" if there is none to describe
  std::string_view version_option = {}, transport_option = {};  // mount options that tell these
};

// Null for other types.
const NetworkType* find_network_type(std::string_view type);

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
  // done in a child process (run_apart); nothing if there is no answer within two seconds, and from
  // then on for all paths on that mount. `waits_on`: of run_apart.
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
