#include "replay/volumes/device_identity.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <boost/filesystem.hpp>
#include <fmt/format.h>
#include <sys/sysmacros.h>

#include "filesets/system/directory_path.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "replay/volumes/sysfs.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

// The targets of a directory of symbolic links, sorted; empty if the directory is missing.
std::vector<fs::path> linked_devices(const std::string& folder) {
  std::vector<fs::path> devices;
  boost::system::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string device = canonical_path(entry->path().string());
    if (!device.empty()) devices.emplace_back(device);
  }
  std::ranges::sort(devices);
  return devices;
}

class LayerWalk {
 public:
  LayerWalk(const DeviceSources& sources, DeviceStack& stack) : sources_(sources), stack_(stack) {}

  // Visits the device of a mounted file system and all other devices of that file system.
  void file_system(dev_t number, int depth = 0) {
    const fs::path mine = canonical_path(
        fmt::format("{}/dev/block/{}:{}", sources_.sys, major(number), minor(number)));
    if (mine.empty()) return;
    boost::system::error_code error;
    fs::directory_iterator one(sources_.sys + "/fs/btrfs", error);
    for (; !error && one != fs::directory_iterator(); one.increment(error)) {
      const std::vector<fs::path> members = linked_devices(one->path().string() + "/devices");
      if (members.size() < 2 || !contains(members, mine)) continue;
      layer(fmt::format("btrfs of {}", members.size()));
      for (const fs::path& member : members) folder(member, depth + 1);
    }
    folder(mine, depth);
  }

  // Visits a backing file, or the device behind a loop device. `loop`: "loop device", or "";
  // `part`: it covers only a part.
  void file(const std::string& path, std::string_view loop, bool part, int depth) {
    const FileStorage storage = sources_.storage_of(path);
    if (storage.is_device) {
      layer(part ? fmt::format("part ({})", loop) : std::string(loop));
    } else {
      layer(fmt::format(
          "file on {}{}",
          storage.file_system.empty() ? "an unknown file system" : printable(storage.file_system),
          loop.empty() ? "" : fmt::format(" ({})", loop)));
    }
    if (storage.device != 0) file_system(storage.device, depth + 1);
  }

 private:
  // Real stacks have a handful. The limits stop at endless trees.
  static constexpr int kDeepest = 32;
  static constexpr std::size_t kMostDevices = 4096;

  void layer(std::string text) {
    if (!contains(stack_.layers, text)) {
      stack_.layers.push_back(std::move(text));
    }
  }
  void layer(Layer one) {
    layer(std::move(one.text));
    std::ranges::move(one.states, std::back_inserter(stack_.states));
  }

  void folder(const fs::path& path, int depth) {
    if (depth > kDeepest || seen_.size() >= kMostDevices || !seen_.insert(path.string()).second) {
      return;
    }
    const std::string name = path.filename().string();
    const auto read = [&](const char* file) { return read_sysfs(path.string() + "/" + file); };
    if (!read("partition").empty()) {
      layer(name + " (partition)");
      folder(path.parent_path(), depth + 1);
      return;
    }
    if (name.starts_with("loop")) {
      const std::string backing = read("loop/backing_file");
      const bool part = (read("loop/offset") + read("loop/sizelimit")).find_first_not_of('0') !=
                        std::string::npos;
      // Without direct I/O, the page cache of the system below it holds its content.
      const bool buffered = read("loop/dio") == "0";
      if (!backing.empty()) file(backing, buffered ? kBufferedLoop : "loop device", part, depth);
      return;
    }
    std::vector<fs::path> below = linked_devices(path.string() + "/slaves");
    if (auto mapped = read_dm(path.string(), sources_.dm_targets)) {
      layer(std::move(*mapped));
      // All paths lead to the same drive.
      if (read("dm/uuid").starts_with("mpath-") && below.size() > 1) below.resize(1);
    } else if (auto array = read_md(path.string(), below.size())) {
      layer(std::move(*array));
    } else if (auto cached = read_bcache(path.string()); cached && !below.empty()) {
      layer(std::move(*cached));
    } else if (below.empty()) {
      stack_.drives.push_back(
          read_drive_identity(path.string(), canonical_path(sources_.sys), sources_.udev));
    } else {
      layer(name);
    }
    for (const fs::path& one : below) folder(one, depth + 1);
  }

  const DeviceSources& sources_;
  DeviceStack& stack_;
  std::set<std::string> seen_;
};

}  // namespace

DeviceStack identify_devices(dev_t device, const DeviceSources& sources) {
  DeviceStack stack;
  LayerWalk(sources, stack).file_system(device);
  return stack;
}

DeviceStack identify_image(const std::string& path, const DeviceSources& sources) {
  DeviceStack stack;
  LayerWalk(sources, stack).file(path, "", false, 0);
  return stack;
}

}  // namespace filereel
