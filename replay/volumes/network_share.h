// Identifies the share under a directory on a network file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filesets/system/mount_info.h"

namespace filereel {

// Texts are "" if the mount does not tell.
struct NetworkShare {
  std::string protocol;   // with its version: "nfs 4.2", "smb 3.1.1", "sshfs"
  std::string transport;  // "tcp", "rdma", "o2ib", "virtio" …
  std::string source;     // server and exported path as mounted, without the user: "nas:/data"
  std::string server;     // host name or address in the source
  std::string address;    // of the server, numeric
  std::string interface;  // on the route to the address: "eth0"
  std::optional<std::uint32_t> link_mbit_per_s = {};  // speed of the interface

  bool operator==(const NetworkShare&) const = default;
};

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
