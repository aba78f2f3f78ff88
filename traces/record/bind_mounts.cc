#include "traces/record/bind_mounts.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>

#include "filesets/system/mount_info.h"
#include "filesets/system/remote_mounts.h"

namespace filereel {
namespace {

bool are_same(const std::string& one, const std::string& other) {
  struct stat first{}, second{};
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// The same for names in mounts. Nothing is said of those that do not respond.
bool are_same(const std::string& one, const std::string& other, RemoteMounts& remote) {
  return remote.ask(one, [&] {
    return remote.ask(other, [&] { return std::string(are_same(one, other) ? "same" : ""); })
        .value_or("");
  }) == "same";
}

// The name of `root` of the same file system in `mount`; empty: it is not there.
std::string name_in(const MountedFileSystem& mount, std::string_view root) {
  std::string_view above = mount.root;
  if (above == "/") above = "";
  if (!root.starts_with(above)) return {};
  root.remove_prefix(above.size());
  if (!root.empty() && !root.starts_with('/')) return {};
  if (root == "/") root = "";
  const std::string_view point = mount.mount_point;
  const std::string name = fmt::format("{}{}", point == "/" ? "" : point, root);
  return name.empty() ? "/" : name;
}

// Of mounts of the same directory, the first one has its name.
std::optional<BoundName> other_name(std::span<const MountedFileSystem> all, std::size_t number,
                                    RemoteMounts& remote) {
  const MountedFileSystem& bound = all[number];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == number || all[i].device != bound.device) continue;
    if (all[i].root == bound.root && i > number) continue;
    const std::string name = name_in(all[i], bound.root);
    if (name.empty() || name == bound.mount_point) continue;
    if (are_same(bound.mount_point, name, remote)) return BoundName{bound.mount_point, name};
  }
  return std::nullopt;
}

}  // namespace

std::vector<BoundName> bind_mounts(std::uint32_t process) {
  std::vector<BoundName> found;
  if (!are_same(fmt::format("/proc/{}/ns/mnt", process), "/proc/self/ns/mnt")) return found;
  const std::vector<MountedFileSystem> all = mounted_file_systems();
  RemoteMounts remote;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& point = all[i].mount_point;
    if (!names_file(point)) continue;
    if (auto other = other_name(all, i, remote)) found.push_back(std::move(*other));
  }
  return found;
}

}  // namespace filereel
