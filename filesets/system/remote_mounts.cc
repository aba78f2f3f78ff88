#include "filesets/system/remote_mounts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <sys/vfs.h>

#include "filesets/system/directory_path.h"
#include "filesets/system/path_kind.h"
#include "filesets/system/printable.h"
#include "filesets/system/run_apart.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

constexpr double kPatience_s = 2;

// An automounter waits for the server of what it is about to mount.
constexpr std::array<std::string_view, 18> kNetworkTypes = {
    "nfs",    "nfs4", "cifs",  "smb3", "smbfs",    "lustre", "ceph",  "9p",   "afs",
    "beegfs", "gpfs", "pvfs2", "coda", "virtiofs", "gfs2",   "ocfs2", "acfs", "autofs"};

// The names of a path, in order.
std::deque<std::string> names_of(std::string_view path) {
  std::deque<std::string> names;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) names.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

bool is_remote(std::string_view type) {
  return type.starts_with("fuse") || contains(kNetworkTypes, type);
}

std::string silence_text(const MountedFileSystem& mounted) {
  return fmt::format("{} ({}) does not respond", printable_line(mounted.mount_point),
                     printable_line(mounted.type));
}

std::string release_advice(const MountedFileSystem& mounted) {
  if (!mounted.type.starts_with("fuse")) {
    return fmt::format("'umount -f {}'", printable_line(mounted.mount_point));
  }
  constexpr const char* kConnections = "/sys/fs/fuse/connections";
  const std::string connection = fmt::format("{}/{}", kConnections, fuse_connection(mounted));
  // Containers lack the file system.
  const std::string mount = path_exists(connection)
                                ? ""
                                : fmt::format("'mount -t fusectl none {}' and then ", kConnections);
  return mount + fmt::format("'echo 1 > {}/abort'", connection);
}

RemoteMounts::RemoteMounts(const std::string& mountinfo) {
  std::ifstream in(mountinfo);
  for (std::string line; std::getline(in, line);) {
    auto mounted = parse_mount(line);
    if (!mounted) continue;
    // It hides what was mounted there before, such as an automounter.
    std::erase_if(mounts_, [&](const MountedFileSystem& one) {
      return one.mount_point == mounted->mount_point;
    });
    if (is_remote(mounted->type)) mounts_.push_back(std::move(*mounted));
  }
}

const MountedFileSystem* RemoteMounts::at(const std::string& mount_point) const {
  return find_or_null(mounts_, mount_point, &MountedFileSystem::mount_point);
}

std::optional<MountedFileSystem> RemoteMounts::on_way_to(const std::string& path) const {
  if (mounts_.empty()) return std::nullopt;
  constexpr int kMostLinks = 40;  // as the kernel
  std::deque<std::string> names = names_of(absolute_path(path));
  std::string way = "/";
  for (int links = 0; links <= kMostLinks;) {
    if (const MountedFileSystem* const found = at(way)) return *found;
    if (names.empty()) break;
    const std::string name = std::move(names.front());
    names.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      way = above(way);
      continue;
    }
    const std::string next = way == "/" ? way + name : way + "/" + name;
    const std::string target = at(next) ? "" : link_text(next);
    if (target.empty()) {
      way = next;
      continue;
    }
    ++links;
    if (target.starts_with('/')) way = "/";
    std::deque<std::string> more = names_of(target);
    names.insert(names.begin(), more.begin(), more.end());
  }
  return std::nullopt;
}

std::string RemoteMounts::share_at(const std::string& path) const {
  const std::optional<MountedFileSystem> mounted = on_way_to(path);
  if (!mounted || mounted->type == "autofs" || mounted->source.starts_with("/dev/")) return "";
  return fmt::format("{} on {}", mounted->source, mounted->mount_point);
}

std::optional<std::string> RemoteMounts::ask(const std::string& path,
                                             const std::function<std::string()>& work,
                                             const std::function<bool()>& waits_on) {
  const std::optional<MountedFileSystem> mounted = on_way_to(path);
  if (!mounted) return work();
  if (silent_.contains(mounted->mount_point)) return std::nullopt;
  const auto after_look = [&] {
    // Other calls may be answered from caches while the server does not respond.
    struct statfs info{};
    static_cast<void>(statfs(mounted->mount_point.c_str(), &info));
    return work();
  };
  std::optional<std::string> answer = run_apart(after_look, kPatience_s, waits_on);
  if (!answer) silent_.insert(mounted->mount_point);
  return answer;
}

bool RemoteMounts::responds(const std::string& path) {
  return ask(path, [] { return std::string(); }).has_value();
}

}  // namespace filereel
