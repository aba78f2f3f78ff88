// A volume as named by the user: a directory, an image file, a block device or part of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replay/results/volume_description.h"

namespace filereel {

struct Target {
  TargetKind kind = TargetKind::directory;
  std::string path;
  // Bytes. Images: 0 for the size that the plan needs. Block devices: size of the part; 0 for
  // everything from `start` on.
  std::uint64_t size = 0;
  bool temporary = false;   // images: filereel removes it at the end
  std::uint64_t start = 0;  // of a part of a block device: bytes

  bool is_part() const { return kind == TargetKind::block_device && (start > 0 || size > 0); }
  std::string text() const;  // as on the command line, without the size of an image
};

// Alignment of start and size of a part: no drive has larger blocks.
inline constexpr std::uint64_t kPartAlignment = 4096;

// "DIR", "/dev/sdX", "/dev/sdX,start=32G,size=32G", "image:FILE", "image:FILE,size=4G". Commas in
// an image's name are doubled; in other names only a comma before "start=" or "size=". Throws
// Error(usage).
Target parse_target(std::string_view text);

// The path in such a text. Looks at nothing and throws nothing.
std::string path_in_target(std::string_view text);

// The same as parse_target; also throws Error(usage) if it is not a block device.
Target parse_device(std::string_view text);

}  // namespace filereel
