#include "replay/volumes/target.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::string_view kImage = "image:";

// The least size that any file system is made on; smaller ones are typing errors.
constexpr std::uint64_t kLeastImage = 1 << 20;

Target parse_image(std::string_view text) {
  Target target;
  target.kind = TargetKind::image;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == ',') {
      if (i + 1 == text.size() || text[i + 1] != ',') break;
      ++i;
    }
    target.path += text[i];
  }
  if (target.path.empty()) {
    throw Error(ErrorKind::usage, "'image:' needs a file name: image:FILE or image:FILE,size=4G");
  }
  if (i == text.size()) return target;
  const std::string_view option = text.substr(i + 1);
  constexpr std::string_view kSize = "size=";
  if (!option.starts_with(kSize)) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is not an option of an image: use size=4G (a comma in the file "
                            "name is written twice)",
                            option));
  }
  target.size = parse_size(option.substr(kSize.size()), "size", ErrorKind::usage);
  if (target.size < kLeastImage) {
    throw Error(ErrorKind::usage, fmt::format("an image of {} is too small for a file system: say "
                                              "size=64M or more",
                                              option.substr(kSize.size())));
  }
  return target;
}

}  // namespace

std::string_view target_kind_name(TargetKind kind) {
  switch (kind) {
    case TargetKind::directory:
      return "directory";
    case TargetKind::image:
      return "image";
    case TargetKind::block_device:
      break;
  }
  return "block device";
}

std::string Target::text() const {
  if (kind != TargetKind::image) return path;
  std::string text(kImage);
  for (const char c : path) text += c == ',' ? ",," : std::string(1, c);
  return text;
}

Target parse_target(std::string_view text) {
  if (text.starts_with(kImage)) return parse_image(text.substr(kImage.size()));
  if (text.empty()) {
    throw Error(ErrorKind::usage, "a volume needs a name: a directory, image:FILE or a device");
  }
  Target target;
  target.path = text;
  struct stat info{};
  if (stat(target.path.c_str(), &info) != 0) return target;  // a directory to be made
  if (S_ISBLK(info.st_mode)) {
    target.kind = TargetKind::block_device;
  } else if (!S_ISDIR(info.st_mode)) {
    throw Error(ErrorKind::usage, fmt::format("{} is a file: for a volume in an image file say "
                                              "image:{}",
                                              text, text));
  }
  return target;
}

}  // namespace filereel
