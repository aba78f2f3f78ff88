// What the user names as a volume: a directory, an image file, a block device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace filereel {

enum class TargetKind : std::uint8_t { directory, image, block_device };

std::string_view target_kind_name(TargetKind kind);  // "directory", "image", "block device"

struct Target {
  TargetKind kind = TargetKind::directory;
  std::string path;
  std::uint64_t size = 0;  // images: bytes, 0 for "as much as the plan needs"
  bool temporary = false;  // images: filereel removes it at the end

  std::string text() const;  // as on the command line
};

// "DIR", "/dev/sdX", "image:FILE", "image:FILE,size=4G". A comma in an image's name is written as
// two. Throws Error(usage).
Target parse_target(std::string_view text);

}  // namespace filereel
