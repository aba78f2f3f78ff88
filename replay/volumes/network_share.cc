#include "replay/volumes/network_share.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

// A mount source: "user@nas:/data", "//nas/data", "https://nas/data", "10.0.0.1@tcp:/data".
struct ShareSource {
  std::string text;    // without the user
  std::string scheme;  // "https"
  std::string server;  // the first of several
  bool had_user = false;
};

ShareSource parse_share_source(const std::string& text, bool has_users) {
  ShareSource source{.text = text, .scheme = {}, .server = {}};
  std::size_t begin = text.starts_with("//") ? 2 : 0;
  if (const std::size_t found = text.find("://"); found != std::string::npos && found > 0) {
    source.scheme = text.substr(0, found);
    begin = found + 3;
  }
  const std::size_t end = std::min(text.find_first_of(begin > 0 ? "/" : ":/", begin), text.size());
  const std::size_t at = text.substr(0, end).rfind('@');
  if (has_users && at != std::string::npos && at >= begin) {
    source.text.erase(begin, at + 1 - begin);
    source.had_user = true;
  }
  const std::string host = source.text.substr(begin);
  if (host.starts_with('[')) {
    source.server = host.substr(1, host.find(']') - 1);
  } else if (begin > 0 || host.substr(0, host.find('/')).contains(':')) {
    // Without slashes in front, a server ends at a colon, before the path.
    source.server = host.substr(0, host.find_first_of(",:@/"));
  }
  return source;
}

// Whether the source of a FUSE program's mount is on a server: "nas:/data", "user@nas:data",
// "//nas/data", "https://nas/data".
bool names_server(const ShareSource& source) {
  if (source.server.empty()) return false;
  return source.had_user || !source.scheme.empty() || source.text.starts_with("//") ||
         source.text.contains(":/");
}

bool is_numeric(const std::string& address) {
  in_addr four{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return true;
  in6_addr six{};  // "fe80::1%eth0" has a zone
  return inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &six) == 1;
}

// The first address of "10.0.0.1:6789/10.0.0.2", "[fe80::1]:6789", "fe80::1"; "" for a name.
std::string first_address(std::string text) {
  text = text.substr(0, text.find_first_of("/,"));
  if (text.starts_with('[')) text = text.substr(1, text.find(']') - 1);
  if (std::ranges::count(text, ':') == 1) text = text.substr(0, text.find(':'));
  return is_numeric(text) ? text : "";
}

std::string address_of(const std::string& options, const std::string& server) {
  for (const char* const name : {"addr", "ip", "mon_addr"}) {
    std::string address = first_address(mount_option(options, name));
    if (!address.empty()) return address;
  }
  return first_address(server);
}

std::string transport_in(const NetworkType& type, const MountedFileSystem& mounted) {
  if (type.type == "lustre") {  // "10.0.0.1@o2ib:/data"
    const std::size_t at = mounted.source.find('@');
    if (at == std::string::npos) return "";
    return mounted.source.substr(at + 1, mounted.source.find_first_of(":,", at) - at - 1);
  }
  if ((mounted.options + ",").contains(",rdma,")) return "rdma";  // SMB Direct
  return mount_option(mounted.options, std::string(type.transport_option));
}

std::string version_in(const NetworkType& type, const MountedFileSystem& mounted) {
  std::string version = mount_option(mounted.options, std::string(type.version_option));
  if (version.starts_with(type.protocol)) version.erase(0, type.protocol.size());  // "9p2000.L"
  return version;
}

// An address without its port, for comparison.
std::string_view address_bytes(const sockaddr* address) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    return {reinterpret_cast<const char*>(&four), sizeof four};
  }
  if (address->sa_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    return {reinterpret_cast<const char*>(&six), sizeof six};
  }
  return {};
}

// The interface with a local address; "" if there is none.
std::string interface_with(const sockaddr* local) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (address_bytes(one->ifa_addr) == address_bytes(local)) return one->ifa_name;
  }
  return "";
}

// The socket address of "192.168.0.1" or "fe80::1%eth0"; of no family for other texts. Without
// getaddrinfo, for which a static program loads libraries of the system.
sockaddr_storage socket_address(const std::string& text) {
  constexpr std::uint16_t kPort = 9;  // discard; nothing is sent
  sockaddr_storage address{};
  auto& four = reinterpret_cast<sockaddr_in&>(address);
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  const std::size_t zone = text.find('%');
  if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(kPort);
  } else if (inet_pton(AF_INET6, text.substr(0, zone).c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(kPort);
    if (zone != std::string::npos) six.sin6_scope_id = if_nametoindex(text.c_str() + zone + 1);
  }
  return address;
}

// The kernel chooses the local address of a route when a UDP socket is connected, which sends
// nothing.
std::string interface_to(const std::string& address) {
  const sockaddr_storage server = socket_address(address);
  const auto* const peer = reinterpret_cast<const sockaddr*>(&server);
  const Descriptor socket_(::socket(server.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage local{};
  auto* const own = reinterpret_cast<sockaddr*>(&local);
  socklen_t size = sizeof local;
  if (!socket_ || connect(socket_.get(), peer, sizeof server) != 0 ||
      getsockname(socket_.get(), own, &size) != 0) {
    return "";
  }
  // A server on this machine is reached without its network card.
  if (address_bytes(own) == address_bytes(peer)) return "lo";
  return interface_with(own);
}

}  // namespace

std::optional<NetworkShare> network_share(const MountedFileSystem& mounted) {
  const NetworkType* known = find_network_type(mounted.type);
  if (known != nullptr && known->protocol.empty()) known = nullptr;
  const bool is_fuse = mounted.type == "fuse" || mounted.type.starts_with("fuse.");
  if (known == nullptr && !is_fuse) return std::nullopt;
  ShareSource source = parse_share_source(mounted.source, mounted.type != "lustre");
  if (known == nullptr && !names_server(source)) return std::nullopt;

  NetworkShare share;
  if (known != nullptr) {
    const std::string version = version_in(*known, mounted);
    share.protocol = fmt::format("{}{}{}", known->protocol, version.empty() ? "" : " ", version);
    share.transport = transport_in(*known, mounted);
    if (known->protocol == "9p" && share.transport == "tcp") source.server = source.text;
  } else if (mounted.type == "fuse" && !source.scheme.empty()) {
    share.protocol = source.scheme;
  } else {
    share.protocol = mounted.type.substr(mounted.type.find('.') + 1);
  }
  share.source = std::move(source.text);
  share.server = std::move(source.server);
  share.address = address_of(mounted.options, share.server);
  return share;
}

void find_link(NetworkShare& share, const std::string& sys) {
  if (share.address.empty()) return;
  share.interface = interface_to(share.address);
  if (share.interface.empty()) return;
  // The kernel has -1 or an error for an unknown speed.
  const std::string speed = read_sysfs(sys + "/class/net/" + share.interface + "/speed");
  const long long number = strtoll(speed.c_str(), nullptr, 10);
  if (number > 0 && number < UINT32_MAX) {
    share.link_mbit_per_s = static_cast<std::uint32_t>(number);
  }
}

std::vector<std::string> share_layers(const NetworkShare& share) {
  std::vector<std::string> layers = {share.protocol};
  if (!share.transport.empty()) layers.back() += " over " + share.transport;
  if (share.interface.empty()) return layers;
  layers.push_back(share.interface);
  if (share.link_mbit_per_s) layers.back() += fmt::format(" {} Mbit/s", *share.link_mbit_per_s);
  return layers;
}

std::string options_without_account(const std::string& options) {
  static constexpr auto kAccount = std::to_array<std::string_view>(
      {"password", "password2", "passwd", "pass", "secret", "key", "credentials", "cred",
       "username", "user", "name", "domain"});
  std::string kept;
  for (std::size_t begin = 0; begin < options.size();) {
    const std::size_t end = std::min(options.find(',', begin), options.size());
    const std::string_view option = std::string_view(options).substr(begin, end - begin);
    const std::size_t equals = option.find('=');
    const bool is_account =
        equals != std::string_view::npos && contains(kAccount, option.substr(0, equals));
    if (!is_account) kept += fmt::format("{}{}", kept.empty() ? "" : ",", option);
    begin = end + 1;
  }
  return kept;
}

}  // namespace filereel
