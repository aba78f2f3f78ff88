#include "replay/volumes/device_identity.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <boost/filesystem.hpp>
#include <boost/filesystem/path.hpp>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

constexpr std::uint64_t kSector = 512;  // unit of /sys/block/*/size for every drive

// Cleans a drive's text for one line: removes padding and replaces odd bytes by question marks.
std::string clean_text(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, text.find('\0'))) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c > ' ' && c <= '~' ? c : '?';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string first_of(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) return text;
  }
  return "";
}

// For ATA drives, SCSI's sysfs truncates the model to 16 characters and the firmware to 4. The full
// texts are in IDENTIFY DEVICE, which page 89h of the vital product data contains (SAT-4, 12.4.2;
// words as in ACS-4, 7.13.6).
struct AtaIdentity {
  std::string model, serial, firmware;
};
AtaIdentity ata_identity(const std::string& page) {
  constexpr std::size_t kBegin = 60, kWords = 47;
  if (page.size() < kBegin + 2 * kWords || static_cast<unsigned char>(page[1]) != 0x89) return {};
  const auto text = [&](std::size_t first, std::size_t words) {
    std::string swapped;
    for (std::size_t word = first; word < first + words; ++word) {
      swapped += page[kBegin + 2 * word + 1];
      swapped += page[kBegin + 2 * word];
    }
    return clean_text(swapped);
  };
  return {.model = text(27, 20), .serial = text(10, 10), .firmware = text(23, 4)};
}

// Page 80h: four bytes, then the number.
std::string unit_serial(const std::string& page) {
  return page.size() > 4 && static_cast<unsigned char>(page[1]) == 0x80 ? clean_text(page.substr(4))
                                                                        : "";
}

using Properties = std::map<std::string, std::string>;

// udev's database: "E:ID_MODEL=Fast_Disk_3".
Properties udev_properties(const std::string& path) {
  Properties properties;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with("E:") || equals == std::string::npos) continue;
    properties[line.substr(2, equals - 2)] = line.substr(equals + 1);
  }
  return properties;
}

// Decodes udev's escapes: "Fast\x20Disk".
std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") == 0 && i + 3 < text.size()) {
      out += static_cast<char>(strtol(text.substr(i + 2, 2).c_str(), nullptr, 16));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return clean_text(out);
}

// The parent directory of a USB device; "" if there is none.
std::string usb_folder(const std::string& folder, const std::string& sys) {
  boost::filesystem::path path(folder);
  for (; path.string().size() > sys.size(); path = path.parent_path()) {
    if (!read_sysfs(path.string() + "/idVendor").empty()) return path.string();
  }
  return "";
}

// Derives the transport from the drive's sysfs path.
std::string transport_of(const std::string& path, const DeviceIdentity& drive, bool ata,
                         const std::string& fabric) {
  struct Mark {
    std::string_view folder, transport;  // part of the path, and its transport
  };
  // USB and virtio come before SCSI, because they may carry SCSI disks.
  static constexpr std::array<Mark, 14> kMarks = {{{"/nvme", "nvme"},
                                                   {"/usb", "usb"},
                                                   {"/virtio", "virtio"},
                                                   {"/mmc_host", "mmc"},
                                                   {"/end_device-", "sas"},
                                                   {"/ata", "sata"},
                                                   {"/session", "iscsi"},
                                                   {"/rport-", "fc"},
                                                   {"/vbd-", "xen"},
                                                   {"/VMBUS:", "hyper-v"},
                                                   {"/ndbus", "pmem"},
                                                   {"/rbd", "rbd"},
                                                   {".ufshc/", "ufs"},
                                                   {"/host", "scsi"}}};
  for (const Mark& mark : kMarks) {
    if (path.find(mark.folder) == std::string::npos) continue;
    if (mark.transport == "nvme" && !fabric.empty() && fabric != "pcie") return "nvme-" + fabric;
    if (mark.transport == "sas" && ata) return "sata";
    return std::string(mark.transport);
  }
  if (drive.name.starts_with("zram") || drive.name.starts_with("ram")) return "ram";
  if (drive.name.starts_with("nbd")) return "nbd";
  return path.find("/virtual") == std::string::npos ? "" : "virtual";
}

void read_queue(const std::string& folder, DeviceIdentity& drive) {
  const auto number = [&](const char* name) {
    const std::string text = read_sysfs(folder + "/" + name);
    return static_cast<std::uint32_t>(
        std::min<unsigned long>(strtoul(text.c_str(), nullptr, 10), UINT32_MAX));
  };
  const std::string rotational = read_sysfs(folder + "/rotational");
  if (!rotational.empty()) drive.rotational = rotational == "1";
  // "none [mq-deadline] kyber": the active one is in brackets.
  const std::string schedulers = read_sysfs(folder + "/scheduler");
  const std::size_t open = schedulers.find('['), close = schedulers.find(']', open);
  drive.scheduler = clean_text(close == std::string::npos || open == std::string::npos
                                   ? schedulers
                                   : schedulers.substr(open + 1, close - open - 1));
  drive.write_cache = clean_text(read_sysfs(folder + "/write_cache"));
  drive.logical_block = number("logical_block_size");
  drive.physical_block = number("physical_block_size");
  drive.queue_requests = number("nr_requests");
  drive.read_ahead_kib = number("read_ahead_kb");
}

}  // namespace

DeviceIdentity read_drive_identity(const std::string& folder, const std::string& sys,
                                   const std::string& udev) {
  const auto of = [&](const char* name) {
    return clean_text(read_sysfs(folder + "/device/" + name));
  };
  Properties udevs = udev_properties(udev + "/b" + read_sysfs(folder + "/dev"));
  const bool udev_asked_ata = udevs["ID_ATA"] == "1";  // so udev has the full texts
  const AtaIdentity ata = ata_identity(read_sysfs(folder + "/device/vpd_pg89"));
  const std::string vendor = of("vendor");
  const bool is_ata = vendor == "ATA" || udev_asked_ata || !ata.model.empty();
  const std::string usb = usb_folder(folder, sys);
  const auto of_usb = [&](const char* name) {
    return usb.empty() ? "" : clean_text(read_sysfs(usb + "/" + name));
  };

  DeviceIdentity drive;
  drive.name = boost::filesystem::path(folder).filename().string();
  std::ranges::replace(drive.name, '!', '/');  // as sysfs writes it
  const std::string model = of("model");
  const bool has_vendor = !model.empty() && !vendor.empty() && vendor != "ATA" &&
                          !vendor.starts_with("0x") && !model.starts_with(vendor);
  drive.model = first_of({ata.model, udev_asked_ata ? decoded(udevs["ID_MODEL_ENC"]) : "",
                          has_vendor ? vendor + " " + model : model, of("name"),
                          decoded(udevs["ID_MODEL_ENC"]), of_usb("product")});
  drive.serial = first_of({ata.serial, of("serial"), clean_text(read_sysfs(folder + "/serial")),
                           unit_serial(read_sysfs(folder + "/device/vpd_pg80")),
                           clean_text(udevs["ID_SERIAL_SHORT"]), of_usb("serial"),
                           clean_text(read_sysfs(folder + "/wwid")), of("wwid")});
  drive.firmware =
      first_of({ata.firmware, udev_asked_ata ? clean_text(udevs["ID_REVISION"]) : "",
                of("firmware_rev"), of("rev"), of("fwrev"), clean_text(udevs["ID_REVISION"])});
  drive.transport = transport_of(folder.substr(std::min(sys.size(), folder.size())), drive, is_ata,
                                 of("transport"));
  drive.size = strtoull(read_sysfs(folder + "/size").c_str(), nullptr, 10) * kSector;
  read_queue(folder + "/queue", drive);
  return drive;
}

namespace {

// Limit for nested overlays and FUSE on images.
constexpr int kMostHops = 8;

dev_t device_of(const std::string& path, int hops) {
  struct stat info{};
  if (hops == 0 || stat(path.c_str(), &info) != 0) return 0;
  if (S_ISBLK(info.st_mode)) return info.st_rdev;
  if (major(info.st_dev) != 0) return info.st_dev;
  const std::optional<MountedFileSystem> mounted = mounted_at(path);
  if (!mounted) return 0;
  if (mounted->type == "overlay")
    return device_of(mount_option(mounted->options, "upperdir"), hops - 1);
  // The source of a network file system is not a local path.
  const bool local = mounted->type == "btrfs" || mounted->type.starts_with("fuse");
  return local && mounted->source.starts_with('/') ? device_of(mounted->source, hops - 1) : 0;
}

}  // namespace

FileStorage storage_of_file(const std::string& path) {
  struct stat info{};
  std::string there = path;
  // The kernel's name for the removed file of a loop device: "/x/a.img (deleted)".
  if (stat(there.c_str(), &info) != 0) there = boost::filesystem::path(path).parent_path().string();
  if (there.empty() || stat(there.c_str(), &info) != 0) return {};
  FileStorage storage;
  storage.device = device_of(there, kMostHops);
  storage.is_device = S_ISBLK(info.st_mode);
  if (const auto mounted = mounted_at(there)) storage.file_system = mounted->type;
  return storage;
}

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
