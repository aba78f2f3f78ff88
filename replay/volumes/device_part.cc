#include "replay/volumes/device_part.h"

#include <algorithm>
#include <limits>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "filesets/system/counted.h"
#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/volumes/block_device.h"
#include "replay/volumes/sysfs.h"

namespace filereel {
namespace {

constexpr std::uint64_t kSysfsSector = 512;  // unit of start and size for every drive

}  // namespace

DiskRange range_of(const Target& target) {
  const dev_t device = device_number(target.path);
  if (device == 0) {
    throw Error(ErrorKind::usage, fmt::format("{}: no such block device", printable(target.path)));
  }
  return range_of(target, device);
}

DiskRange range_of(const Target& target, dev_t device, const std::string& sys) {
  const boost::filesystem::path folder =
      canonical_path(fmt::format("{}/dev/block/{}:{}", sys, major(device), minor(device)));
  const auto bytes = [&](const char* file) {
    return strtoull(read_sysfs((folder / file).string()).c_str(), nullptr, 10) * kSysfsSector;
  };
  DiskRange range{.device = device, .disk = device};
  if (!read_sysfs((folder / "partition").string()).empty()) {
    if (const auto disk = number_in_sysfs(folder.parent_path().string())) range.disk = *disk;
    range.begin = bytes("start");
  }
  const std::uint64_t whole = bytes("size");
  range.end = range.begin + whole;
  if (!target.is_part()) {
    // With an unknown size the range is unlimited.
    if (whole == 0) range.end = std::numeric_limits<std::uint64_t>::max();
    return range;
  }
  const std::uint64_t room = whole - std::min(whole, target.start);
  if (room == 0 || target.size > room) {
    throw Error(ErrorKind::usage,
                fmt::format("{} extends past the end of the device, which has {} ({})",
                            target.text(), counted(whole, "byte"), format_size(whole)));
  }
  // Excludes the last bytes of a device of unaligned size.
  const std::uint64_t size = target.size > 0 ? target.size : room - room % kPartAlignment;
  range.begin += target.start;
  range.end = range.begin + size;
  return range;
}

std::shared_ptr<HeldDevice> HeldDevices::hold(int node, const std::string& path) {
  struct stat info{};
  fstat(node, &info);
  std::weak_ptr<HeldDevice>& place = devices_[info.st_rdev];
  if (std::shared_ptr<HeldDevice> held = place.lock()) return held;
  auto held = std::make_shared<HeldDevice>();
  held->number = info.st_rdev;
  held->file = open_alone(node);
  if (!held->file) {
    throw_failed(fmt::format("cannot open {}: {}", printable(path), error_text(errno)));
  }
  lock_alone(held->file.get(), path);
  place = held;
  return held;
}

std::vector<dev_t> HeldDevices::parts_on(dev_t device) const {
  const auto found = devices_.find(device);
  const auto held = found == devices_.end() ? nullptr : found->second.lock();
  return held ? held->parts : std::vector<dev_t>();
}

}  // namespace filereel
