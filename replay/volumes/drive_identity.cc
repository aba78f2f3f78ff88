#include "replay/volumes/drive_identity.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string_view>

#include <boost/filesystem/path.hpp>
#include <fmt/format.h>
#include <stdlib.h>

#include "replay/volumes/sysfs.h"

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

}  // namespace filereel
