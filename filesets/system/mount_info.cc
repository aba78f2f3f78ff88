#include "filesets/system/mount_info.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

#include <boost/filesystem.hpp>
#include <sys/sysmacros.h>

#include "filesets/system/directory_path.h"
#include "filesets/system/numbers.h"
#include "filesets/system/path_kind.h"

namespace filereel {
namespace {

// mountinfo writes space, tab, newline and backslash as \ and three octal digits.
std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      std::string_view digits = std::string_view(text).substr(i + 1, 3);
      unsigned code = 0;
      take_number(digits, code, 8);
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::optional<MountedFileSystem> parse_mount(const std::string& line) {
  // id parent major:minor root mount-point options [optional…] - type source super-options
  std::istringstream words(line);
  std::string id, parent, device, root, point, options, word, type, source, more;
  words >> id >> parent >> device >> root >> point >> options;
  while (words >> word && word != "-") {
  }
  words >> type >> source >> more;
  unsigned major_number = 0, minor_number = 0;
  // NOLINTNEXTLINE(cert-err34-c): the kernel's own digits
  if (sscanf(device.c_str(), "%u:%u", &major_number, &minor_number) != 2) return std::nullopt;
  return MountedFileSystem{makedev(major_number, minor_number),
                           unescape(root),
                           unescape(point),
                           type,
                           unescape(source),
                           distinct_options(options + "," + more)};
}

std::vector<MountedFileSystem> mounted_file_systems() {
  std::vector<MountedFileSystem> all;
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    if (auto mounted = parse_mount(line)) all.push_back(std::move(*mounted));
  }
  return all;
}

unsigned fuse_connection(const MountedFileSystem& mounted) {
  // The kernel's own form of the device number; that of fuseblk is a block device's.
  constexpr unsigned kMinorBits = 20;
  return (major(mounted.device) << kMinorBits) | minor(mounted.device);
}

std::string distinct_options(const std::string& options) {
  std::string distinct;
  std::istringstream all(options);
  for (std::string one; std::getline(all, one, ',');) {
    if (("," + distinct + ",").contains("," + one + ",")) continue;
    distinct += (distinct.empty() ? "" : ",") + one;
  }
  return distinct;
}

std::string mount_option(const std::string& options, const std::string& name) {
  const std::string all = "," + options, key = "," + name + "=";
  const std::size_t found = all.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return all.substr(begin, all.find(',', begin) - begin);
}

std::string existing_path(const std::string& path) {
  namespace fs = boost::filesystem;
  fs::path there = full_path(path);
  while (there.has_relative_path() && !path_exists(there.string())) there = there.parent_path();
  return there.string();
}

std::optional<MountedFileSystem> mounted_at(const std::string& path) {
  const std::string full = canonical_path(path);
  if (full.empty()) return std::nullopt;
  // The longest mount point that contains the path is the right one. Of two on the same directory
  // the later one hides the other.
  std::optional<MountedFileSystem> best;
  for (MountedFileSystem& candidate : mounted_file_systems()) {
    const std::string& point = candidate.mount_point;
    const bool above = full == point || point == "/" || full.starts_with(point + "/");
    if (!above) continue;
    if (!best || point.size() >= best->mount_point.size()) best = std::move(candidate);
  }
  return best;
}

}  // namespace filereel
