#include "replay/results/hidden_serials.h"

#include <string>

#include <boost/filesystem/operations.hpp>

namespace filereel {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

void hide_serials(VolumeDescription& volume) {
  if (volume.target.starts_with("/dev/disk/by-id/")) {
    boost::system::error_code error;
    const auto device = boost::filesystem::canonical(volume.target, error);
    volume.target = error ? "/dev/disk/by-id/hidden" : device.string();
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
}

VolumeDescription described(const VolumeDescription& volume, const Result& result) {
  VolumeDescription description = volume;
  if (result.serials_hidden) hide_serials(description);
  return description;
}

}  // namespace filereel
