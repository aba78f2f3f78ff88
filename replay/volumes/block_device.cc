#include "replay/volumes/block_device.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <thread>

#include <blkid/blkid.h>
#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/volumes/mount.h"

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

namespace {

namespace fs = boost::filesystem;

constexpr std::uint64_t kStatSector = 512;  // unit of /sys/block/*/size and stat for every drive

std::string sysfs_folder(dev_t device) {
  return fmt::format("/sys/dev/block/{}:{}", major(device), minor(device));
}

// The device and its partitions.
std::vector<dev_t> with_partitions(dev_t device) {
  std::vector<dev_t> all = {device};
  const std::string folder = sysfs_folder(device) + "/";
  for (const std::string& name : names_at(folder)) {
    if (read_sysfs(folder + name + "/partition").empty()) continue;
    if (const auto number = number_in_sysfs(folder + name)) all.push_back(*number);
  }
  return all;
}

bool is_swap(dev_t device) {
  std::ifstream in("/proc/swaps");
  for (std::string line; std::getline(in, line);) {
    if (device_number(line.substr(0, line.find_first_of(" \t"))) == device) return true;
  }
  return false;
}

// A foreign loop device on this device or, if this is a loop device, on the same file; "" if there
// is none. Neither is listed as a holder, nor does it prevent others from opening the device.
std::string loop_device_on(dev_t device, std::span<const dev_t> own_loops) {
  const auto describe = [](const std::string& path) {
    const Descriptor loop(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    loop_info64 info{};
    const bool used = loop && ioctl(loop.get(), LOOP_GET_STATUS64, &info) == 0;
    return used ? std::optional(info) : std::nullopt;
  };
  // A loop device on a file of a share looks at the file, and waits for the share.
  const RemoteMounts remote;
  const auto share_below = [&](const std::string& loop) {
    const auto mounted = remote.on_way_to(read_sysfs("/sys/block/" + loop + "/loop/backing_file"));
    return mounted ? mounted->mount_point : "";
  };
  const fs::path name = fs::path(canonical_path(sysfs_folder(device))).filename();
  // Device mapper and bcache would forward the ioctl to the devices below.
  const bool is_loop = path_exists(sysfs_folder(device) + "/loop");
  const std::optional<loop_info64> own = is_loop ? describe("/dev/" + name.string()) : std::nullopt;
  for (const std::string& one : names_at("/sys/block")) {
    if (!path_exists("/sys/block/" + one + "/loop")) continue;
    const std::string share = share_below(one);
    if (!share.empty() && !(is_loop && share == share_below(name.string()))) continue;
    const std::string path = "/dev/" + one;
    const std::optional<loop_info64> other = describe(path);
    const dev_t number = device_number(path);
    if (!other || number == device || contains(own_loops, number)) {
      continue;
    }
    const bool same_file =
        own && own->lo_inode == other->lo_inode && own->lo_device == other->lo_device;
    if (same_file || (other->lo_rdevice != 0 && other->lo_rdevice == device)) return path;
  }
  return "";
}

// Another process that has the device open for writing, such as a FUSE driver without a visible
// mount source; "" if none is visible.
std::string writer_of(dev_t device) {
  const RemoteMounts remote;
  for (const std::string& number : names_at("/proc")) {
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    if (number == std::to_string(getpid())) continue;
    const std::string process = "/proc/" + number;
    const RemoteMounts remote_of_process(process + "/mountinfo");
    for (const std::string& fd : names_at(process + "/fd")) {
      const std::string path = process + "/fd/" + fd;
      // Looking at a file of a share would wait for the share.
      const std::string name = link_text(path);
      if (!name.starts_with('/') || remote.on_way_to(name) || remote_of_process.on_way_to(name)) {
        continue;
      }
      if (device_number(path) != device) continue;
      // The permissions of the link show the open mode. proc_pid_fd(5)
      struct stat link{};
      if (lstat(path.c_str(), &link) != 0 || (link.st_mode & S_IWUSR) == 0) continue;
      return fmt::format("process {}, {}", number, read_sysfs(process + "/comm"));
    }
  }
  return "";
}

// Repeats the attempt until it returns true, for up to two seconds; false if it never does.
bool succeeds_soon(const auto& attempt) {
  constexpr auto kMoment = std::chrono::seconds(2);
  constexpr auto kPause = std::chrono::milliseconds(20);
  for (const auto end = std::chrono::steady_clock::now() + kMoment; !attempt();) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

// The reason why the device must not be used; "" if there is none.
std::string user_of(dev_t device, std::span<const dev_t> own_loops) {
  require_proc("checking that a device is not in use");
  const RemoteMounts remote;
  for (const MountedFileSystem& mounted : mounted_file_systems()) {
    // FUSE and btrfs report their own device numbers, so the source is checked as well.
    const bool names_device = mounted.source.starts_with('/') && !remote.on_way_to(mounted.source);
    if (mounted.device == device || (names_device && device_number(mounted.source) == device)) {
      return fmt::format("mounted on {}", mounted.mount_point);
    }
  }
  if (is_swap(device)) return "swap space";
  for (const std::string& holder : names_at(sysfs_folder(device) + "/holders")) {
    return fmt::format("part of {}", holder);
  }
  if (const std::string loop = loop_device_on(device, own_loops); !loop.empty()) {
    return fmt::format("attached to {}", loop);
  }
  std::string writer;
  const bool is_free = succeeds_soon([&] {
    writer = writer_of(device);
    return writer.empty();
  });
  return is_free ? "" : fmt::format("open for writing by {}", writer);
}

std::optional<DeviceCounters> read_counters(const std::string& folder) {
  std::istringstream stat(read_sysfs(folder + "/stat"));
  // Reads: requests, merged, sectors, ms; writes likewise (Documentation/block/stat.rst).
  std::uint64_t field[7];
  for (std::uint64_t& value : field) {
    if (!(stat >> value)) return std::nullopt;
  }
  return DeviceCounters{field[2] * kStatSector, field[6] * kStatSector};
}

}  // namespace

DeviceContents probe_contents(int fd) {
  using Probe = std::unique_ptr<std::remove_pointer_t<blkid_probe>, void (*)(blkid_probe)>;
  const Probe probe(blkid_new_probe(), blkid_free_probe);
  DeviceContents contents;
  if (!probe || blkid_probe_set_device(probe.get(), fd, 0, 0) != 0) return contents;
  blkid_probe_enable_partitions(probe.get(), 1);
  blkid_probe_set_superblocks_flags(probe.get(),
                                    BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID);
  if (blkid_do_safeprobe(probe.get()) != 0) return contents;
  const auto value = [&](const char* name) -> std::string {
    const char* text = nullptr;
    return blkid_probe_lookup_value(probe.get(), name, &text, nullptr) == 0 ? text : "";
  };
  contents.type = value("TYPE");
  if (contents.type.empty()) contents.type = value("PTTYPE");
  contents.label = value("LABEL");
  contents.uuid = value("UUID");
  return contents;
}

std::uint64_t device_size(int fd) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return 0;
  if (S_ISREG(info.st_mode)) return static_cast<std::uint64_t>(info.st_size);
  std::uint64_t size = 0;
  return ioctl(fd, BLKGETSIZE64, &size) == 0 ? size : 0;
}

dev_t device_number(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISBLK(info.st_mode) ? info.st_rdev : 0;
}

std::optional<dev_t> number_in_sysfs(const std::string& folder) {
  unsigned major_number = 0, minor_number = 0;
  const std::string number = read_sysfs(folder + "/dev");
  // NOLINTNEXTLINE(cert-err34-c): the kernel's own digits
  if (sscanf(number.c_str(), "%u:%u", &major_number, &minor_number) != 2) return std::nullopt;
  return makedev(major_number, minor_number);
}

Descriptor open_alone(int node) {
  const std::string self = fmt::format("/proc/self/fd/{}", node);  // reopens exactly this device
  Descriptor device;
  succeeds_soon([&] {
    device.reset(open(self.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
    return device || errno != EBUSY;
  });
  return device;
}

void lock_alone(int device, const std::string& path) {
  if (succeeds_soon([&] { return flock(device, LOCK_EX | LOCK_NB) == 0; })) return;
  throw_failed(fmt::format("{} is in use by another program; wait for it to end", printable(path)));
}

void check_destroy_allowed(int fd, const Target& target, std::span<const Target> destroy) {
  const std::string& path = target.path;
  struct stat info{};
  const dev_t device = fstat(fd, &info) == 0 && S_ISBLK(info.st_mode) ? info.st_rdev : 0;
  if (device == 0) {
    throw Error(ErrorKind::usage, fmt::format("{} is not a block device", printable(path)));
  }
  const DiskRange range = range_of(target);
  const auto names_it = [&](const Target& one) {
    return device_number(one.path) == device && range_of(one).covers(range);
  };
  if (std::ranges::any_of(destroy, names_it)) return;
  const std::string self = fmt::format("/proc/self/fd/{}", fd);  // reopens exactly this device
  const Descriptor readable(open(self.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const DeviceContents contents = probe_contents(readable.get());
  const std::string holds = contents.type.empty() ? "is a block device"
                            : contents.label.empty()
                                ? fmt::format("contains {}", contents.type)
                                : fmt::format("contains {} '{}'", contents.type, contents.label);
  throw Error(
      ErrorKind::usage,
      target.is_part()
          ? fmt::format("{} {}; formatting destroys bytes {} to {}; to allow it, use --destroy {}",
                        path, holds, target.start, target.start + range.size(), target.text())
          : fmt::format(
                "{} {}; formatting destroys everything on it; to allow it, use --destroy {}", path,
                holds, target.text()));
}

void check_unused(int fd, const std::string& path, const DeviceUse& use) {
  struct stat info{};
  fstat(fd, &info);
  for (const dev_t part : with_partitions(info.st_rdev)) {
    if (const std::string user = user_of(part, use.own); !user.empty()) {
      throw Error(
          ErrorKind::failed,
          fmt::format("{} is in use ({}) and was not formatted; unmount or release it first", path,
                      user));
    }
  }
  if (use.held) return;
  const Descriptor exclusive = open_alone(fd);
  if (!exclusive) {
    throw Error(ErrorKind::failed,
                errno == EBUSY
                    ? fmt::format("{} is in use and was not formatted; release it first", path)
                    : fmt::format("cannot write to {}: {}", path, error_text(errno)));
  }
  int read_only = 0;
  if (ioctl(exclusive.get(), BLKROGET, &read_only) == 0 && read_only != 0) {
    throw Error(ErrorKind::failed, fmt::format("{} is read-only; choose another device", path));
  }
}

std::uint64_t size_of_volume(const struct statvfs& info, dev_t device) {
  constexpr double kLeast = 0.75;  // of small volumes, journals and tables take up to a quarter
  const std::uint64_t own = info.f_blocks * info.f_frsize;
  std::uint64_t sectors = 0;
  if (device != 0) std::istringstream(read_sysfs(sysfs_folder(device) + "/size")) >> sectors;
  const std::uint64_t whole = sectors * kStatSector;
  const bool fills = static_cast<double>(own) >= kLeast * static_cast<double>(whole);
  return fills ? std::max(own, whole) : own;
}

std::optional<DeviceCounters> read_device_counters(dev_t device) {
  std::optional<DeviceCounters> counters = read_counters(sysfs_folder(device));
  if (counters) counters->device = device;
  return counters;
}

std::optional<DeviceCounters> read_drive_counters(const std::string& name) {
  std::string folder = name;
  std::ranges::replace(folder, '/', '!');  // as sysfs writes it
  return read_counters("/sys/block/" + folder);
}

}  // namespace filereel
