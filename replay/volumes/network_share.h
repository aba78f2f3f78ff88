// Identifies the share under a directory on a network file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filesets/system/mounts.h"
#include "replay/results/volume_description.h"

namespace filereel {

// Nothing for a local file system. Resolves no names and leaves the interface empty.
std::optional<NetworkShare> network_share(const MountedFileSystem& mounted);

// Sets the interface and its speed, if the address is known. Sends no packets. `sys` is the
// directory of sysfs.
void find_link(NetworkShare& share, const std::string& sys = "/sys");

// The layers between the mount and the server: "nfs 4.2 over tcp", "eth0 1000 Mbit/s".
std::vector<std::string> share_layers(const NetworkShare& share);

// Mount options without passwords and the names of accounts.
std::string options_without_account(const std::string& options);

}  // namespace filereel
