#include "filesets/ownership/lost_directory.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "filesets/ownership/file_state.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/mount_info.h"
#include "filesets/system/printable.h"
#include "filesets/system/remote_mounts.h"

namespace filereel {
namespace {

bool is_mounted(dev_t device) {
  const std::vector<MountedFileSystem> all = mounted_file_systems();
  return std::ranges::any_of(all,
                             [&](const MountedFileSystem& one) { return one.device == device; });
}

// Whether the mount that the path lies on answers.
bool mount_works(const std::string& path) {
  const auto mounted = RemoteMounts().on_way_to(path);
  struct statfs info{};
  return mounted && statfs(mounted->mount_point.c_str(), &info) == 0;
}

}  // namespace

std::string fate_of(int directory, const std::string& path) {
  // Unless the driver is lost, too, the mount says so.
  if (is_removed_on_server(directory) && mount_works(path)) return "was removed";
  const std::optional<FileState> ours = read_file_state(directory);
  struct stat info{};
  if (!ours || fstat(directory, &info) != 0) return "stopped responding";  // a lost FUSE driver
  const Descriptor now(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::optional<FileState> there = now ? read_file_state(now.get()) : std::nullopt;
  if (there && there->identity == ours->identity) return "";
  if (info.st_nlink == 0) return "was removed";
  const std::string elsewhere = path_of_directory(directory, path);
  if (!elsewhere.empty() && elsewhere != path) return "was renamed to " + printable(elsewhere);
  if (!is_mounted(info.st_dev)) return "was unmounted";
  return there ? "was replaced" : "was removed or moved";
}

void require_present(int directory, const std::string& path, const std::string& shown) {
  const std::string fate = fate_of(directory, path);
  if (fate.empty()) return;
  const bool mount = fate == "was unmounted" || fate == "stopped responding";
  throw_failed(fmt::format("{} {}{} during the run; {} and restart the run", printable(shown), fate,
                           mount ? "" : " by another program",
                           mount ? "mount it again" : "keep other programs out of it"));
}

}  // namespace filereel
