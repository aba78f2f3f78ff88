// What a drive says of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace filereel {

// A whole drive, as its driver and its queue describe it. Texts are "" where the kernel has none.
struct DeviceIdentity {
  std::string name;  // the kernel's name: "nvme0n1"
  std::string model, serial, firmware;
  std::string transport;   // "nvme", "sata", "sas", "usb", "virtio", "mmc" …
  std::uint64_t size = 0;  // bytes
  std::optional<bool> rotational;
  std::string scheduler;                                // the active one
  std::string write_cache;                              // "write back" or "write through"
  std::uint32_t logical_block = 0, physical_block = 0;  // bytes
  std::uint32_t queue_requests = 0;                     // nr_requests
  std::uint32_t read_ahead_kib = 0;

  bool operator==(const DeviceIdentity&) const = default;
};

// `folder` is the drive's own below `sys`, without symbolic links:
// "/sys/devices/…/nvme/nvme0/nvme0n1"; `udev` is the folder of udev's database.
DeviceIdentity read_drive_identity(const std::string& folder, const std::string& sys,
                                   const std::string& udev);

// What stands for the serial number of a drive whose serial is not to be published: the same for
// the same drive in every result, and short. It hides the number from readers, not from somebody
// who tries all the serial numbers that a maker gives out.
std::string serial_digest(const DeviceIdentity& drive);

}  // namespace filereel
