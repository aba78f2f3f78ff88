#include "replay/history/entry_name.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include "filesets/system/error.h"
#include "filesets/system/search.h"
#include "filesets/system/utf8.h"

namespace filereel {
namespace {

constexpr std::size_t kLongestName = 100;

bool stays(std::string_view character) {
  const char first = character.front();
  return character.size() > 1 || (first >= '0' && first <= '9') || (first >= 'a' && first <= 'z') ||
         (first >= 'A' && first <= 'Z') || first == '.' || first == '_' || first == '+';
}

// The texts without duplicates, in order.
std::string joined(const std::vector<std::string>& texts) {
  std::vector<std::string> once;
  for (const std::string& text : texts) {
    if (!text.empty() && !contains(once, text)) once.push_back(text);
  }
  return fmt::format("{}", fmt::join(once, " + "));
}

}  // namespace

TestedDevice tested_device(const Result& result) {
  std::vector<std::string> names, firmware, kernel_names;
  for (const VolumeDescription& volume : result.volumes) {
    if (volume.role != Role::near) continue;
    for (const DeviceIdentity& drive : volume.drives) {
      const bool both = !drive.model.empty() && !drive.serial.empty();
      names.push_back(drive.model + (both ? " " : "") + drive.serial);
      firmware.push_back(drive.firmware);
      kernel_names.push_back(drive.name);
    }
    // A drive of a share that has a firmware only was named by the user.
    const auto has_name = [](const DeviceIdentity& drive) {
      return !drive.model.empty() || !drive.serial.empty();
    };
    if (volume.network && std::ranges::none_of(volume.drives, has_name)) {
      names.push_back(volume.network->source);
    }
  }
  TestedDevice device = {.name = joined(names), .firmware = joined(firmware)};
  if (device.name.empty()) device.name = result.label;
  if (device.name.empty()) device.name = joined(kernel_names);
  if (device.name.empty()) device.name = "unknown";
  return device;
}

void set_tested_device(Result& result, const TestedDevice& said) {
  if (said.name.empty() && said.firmware.empty()) return;
  if (!contains(result.volumes, Role::near, &VolumeDescription::role)) {
    throw Error(ErrorKind::usage, "cannot name the drive: the result has no volume");
  }
  for (VolumeDescription& volume : result.volumes) {
    if (volume.role != Role::near) continue;
    if (volume.drives.empty()) volume.drives.emplace_back();
    for (DeviceIdentity& drive : volume.drives) {
      if (!said.name.empty()) {
        drive.model = said.name;
        drive.serial.clear();
      }
      if (!said.firmware.empty()) drive.firmware = said.firmware;
    }
  }
}

std::string file_name_of(std::string_view text) {
  std::string name;
  for (std::string_view rest = text; !rest.empty();) {
    const std::optional<Character> character = first_character(rest);
    const std::string_view bytes = rest.substr(0, character ? character->length : 1);
    if (character && stays(bytes)) {
      name += bytes;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    rest.remove_prefix(bytes.size());
  }
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  if (name.starts_with('.')) name.front() = '_';
  if (name.empty()) return "unknown";
  if (name.size() <= kLongestName) return name;
  const std::string number = fmt::format("-{:08x}", XXH32(text.data(), text.size(), 0));
  std::size_t length = kLongestName - number.size();
  while ((static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) --length;  // whole characters
  return name.substr(0, length) + number;
}

std::string entry_name(const Result& result) {
  const TestedDevice device = tested_device(result);
  return fmt::format("{}/{}/{}-{}", file_name_of(device.name),
                     device.firmware.empty() ? "no-firmware" : file_name_of(device.firmware),
                     file_name_of(result.started), file_name_of(result.plan.name));
}

}  // namespace filereel
