// Reads the identity of a drive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace filereel {

// A whole drive, as reported by its driver and its queue. Texts are "" if the kernel has none.
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

// `folder` is the drive's directory below `sys`, without symbolic links:
// "/sys/devices/…/nvme/nvme0/nvme0n1". `udev` is the directory of udev's database.
DeviceIdentity read_drive_identity(const std::string& folder, const std::string& sys,
                                   const std::string& udev);

// A short pseudonym for a text that must not be published.
std::string text_digest(std::string_view text);

// The pseudonym for a serial number, identical for the same drive in every result. It hides the
// number from readers, but not from someone who tries all serial numbers of a manufacturer.
std::string serial_digest(const DeviceIdentity& drive);

}  // namespace filereel
