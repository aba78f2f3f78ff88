#include "replay/results/hidden_serials.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"

namespace filereel {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Replaces what is not part of a longer word: the server "nas" in "/mnt/nas", not in "/mnt/nas2".
void replace_words(std::string& text, const std::string& what, const std::string& with) {
  const auto inside = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    if ((at > 0 && inside(at - 1)) || inside(at + what.size())) {
      ++at;
    } else {
      text.replace(at, what.size(), with);
      at += with.size();
    }
  }
}

// Replaces the values of options with addresses, paths and numbers of the server.
void hide_addresses(std::string& options) {
  static constexpr std::array<const char*, 9> kNames = {
      "addr", "clientaddr", "mountaddr", "srcaddr", "ip", "mon_addr", "unc", "prefixpath", "fsid"};
  for (const char* const name : kNames) {
    const std::string value = mount_option(options, name);
    if (value.empty()) continue;
    const std::string key = std::string(name) + "=";
    const std::size_t at = ("," + options).find("," + key + value);
    options.replace(at + key.size(), value.size(), text_digest(value));
  }
}

// "data" of "nas:/data", "//nas/data", "10.0.0.1@tcp:10.0.0.2@tcp:/data"; "" for no path.
std::string path_in_source(const NetworkShare& share) {
  const std::size_t at = share.source.find(share.server);
  if (share.server.empty() || at == std::string::npos) return "";
  std::string rest = share.source.substr(at + share.server.size());
  if (const std::size_t colon = rest.rfind(":/"); colon != std::string::npos) rest.erase(0, colon);
  return rest.substr(std::min(rest.find_first_not_of("]:/"), rest.size()));
}

// systemd names some interfaces by their MAC address: "enx0123456789ab".
bool is_mac_name(const std::string& interface) {
  constexpr std::size_t kLength = 3 + 12;
  return interface.size() == kLength && interface[2] == 'x';
}

void hide_share(VolumeDescription& volume) {
  NetworkShare& share = *volume.network;
  hide_addresses(volume.mount_options);
  const auto hide_text = [&](const std::string& text) {
    const std::string digest = text_digest(text);
    replace_words(volume.target, text, digest);
    replace_words(volume.mount_options, text, digest);
    for (std::string& layer : volume.layers) replace_words(layer, text, digest);
  };
  for (const std::string& text : {share.source, share.address, share.server}) hide_text(text);
  if (share.server != share.address) hide_text(share.server.substr(0, share.server.find('.')));
  hide_text(path_in_source(share));
  if (is_mac_name(share.interface)) {
    hide_text(share.interface);
    share.interface = text_digest(share.interface);
  }
  for (std::string* text : {&share.source, &share.server, &share.address}) {
    if (!text->empty()) *text = text_digest(*text);
  }
}

}  // namespace

std::string text_digest(std::string_view text) {
  return fmt::format("hidden-{:08x}", XXH3_64bits(text.data(), text.size()) >> 32);
}

std::string serial_digest(const DeviceIdentity& drive) {
  return text_digest(drive.model + '\n' + drive.serial);
}

void hide_serials(VolumeDescription& volume) {
  if (volume.target.starts_with("/dev/disk/by-id/")) {
    const std::string device = canonical_path(volume.target);
    volume.target = device.empty() ? "/dev/disk/by-id/hidden" : device;
  }
  const auto hide = [&](DeviceIdentity& drive) {
    constexpr std::size_t kLeastTelling = 4;  // "1" occurs in too many names
    if (drive.serial.empty()) return;
    const std::string digest = serial_digest(drive);
    if (drive.serial.size() >= kLeastTelling) {
      replace_all(volume.target, drive.serial, digest);
      for (std::string& layer : volume.layers) replace_all(layer, drive.serial, digest);
      for (LayerState& state : volume.states) replace_all(state.layer, drive.serial, digest);
    }
    drive.serial = digest;
  };
  for (DeviceIdentity& drive : volume.drives) hide(drive);
  if (volume.network) hide_share(volume);
}

VolumeDescription described(const VolumeDescription& volume, const Result& result) {
  VolumeDescription description = volume;
  if (result.serials_hidden) hide_serials(description);
  return description;
}

}  // namespace filereel
