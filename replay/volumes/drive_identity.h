// Reads the identity of a drive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "replay/results/volume_description.h"

namespace filereel {

// `folder` is the drive's directory below `sys`, without symbolic links:
// "/sys/devices/…/nvme/nvme0/nvme0n1". `udev` is the directory of udev's database.
DeviceIdentity read_drive_identity(const std::string& folder, const std::string& sys,
                                   const std::string& udev);

}  // namespace filereel
