#include "traces/calls/this_machine.h"

#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>

#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "traces/calls/path_resolution.h"

namespace filereel {
namespace {

constexpr std::uint64_t kClockTick = 10'000'000;  // file times have the resolution of a tick

}  // namespace

ExistingLinks::ExistingLinks(std::uint64_t since_ns, std::uint32_t process, TraceBuilder& builder)
    : since_ns_(since_ns),
      namespace_(fmt::format("/proc/{}/ns/mnt", process)),
      here_(link_text("/proc/self/ns/mnt")),
      builder_(&builder) {}

bool ExistingLinks::sees_what_is_recorded() {
  // It may have left the namespace or ended since.
  if (const std::string now = link_text(namespace_); !now.empty()) same_ = now == here_;
  return same_;
}

std::string ExistingLinks::operator()(const std::string& path) {
  struct stat status{};
  if (!names_file(path)) return {};
  if (!sees_what_is_recorded()) {
    builder_->approximated("symbolic links in another mount namespace not resolved");
    return {};
  }
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return {};
  const std::uint64_t changed_ns =
      static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
      static_cast<std::uint64_t>(status.st_ctim.tv_nsec);
  if (changed_ns + kClockTick > since_ns_) return {};
  return link_text(path);
}

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

bool core_dumps_are_files() {
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  return !pattern.starts_with('|');
}

}  // namespace filereel
