#include "replay/volumes/target.h"

#include <algorithm>
#include <optional>

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>

#include "filesets/ownership/file_state.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::string_view kImage = "image:", kStart = "start=", kSize = "size=";

[[noreturn]] void throw_unreachable(const std::string& path, int error) {
  throw Error(ErrorKind::usage,
              fmt::format("cannot use {}: {}; use a directory, image:FILE or a block device",
                          printable(path), strerror(error)));
}

// The smallest size of any file system; smaller ones are typing errors.
constexpr std::uint64_t kMinVolumeSize = 1 << 20;

bool begins_option(std::string_view text) {
  return text.starts_with(kStart) || text.starts_with(kSize);
}

struct NameAndOptions {
  std::string name;
  std::optional<std::string_view> options;
};

// In an image's name every comma is doubled.
NameAndOptions split_image(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      if (i + 1 == text.size() || text[i + 1] != ',') return {name, text.substr(i + 1)};
      ++i;
    }
    name += text[i];
  }
  return {name, std::nullopt};
}

// In other names only commas before an option are doubled.
NameAndOptions split_path(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t after = std::min(text.find_first_not_of(',', i), text.size());
    const std::size_t commas = after - i;
    const bool told = commas > 0 && begins_option(text.substr(after));
    name.append(told ? commas / 2 : commas, ',');
    if (told && commas % 2 == 1) return {name, text.substr(after)};
    i = after;
    if (i < text.size()) name += text[i++];
  }
  return {name, std::nullopt};
}

std::string write_path(const std::string& path) {
  std::string text;
  for (std::size_t i = 0; i < path.size();) {
    const std::size_t after = std::min(path.find_first_not_of(',', i), path.size());
    const bool told = begins_option(std::string_view(path).substr(after));
    text.append(told ? 2 * (after - i) : after - i, ',');
    i = after;
    if (i < path.size()) text += path[i++];
  }
  return text;
}

// An image is a file. What else is there would only be found when it is created.
void check_image(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) throw_unreachable(path, errno);
    return;
  }
  if (S_ISREG(info.st_mode)) return;
  throw Error(ErrorKind::usage,
              fmt::format("image:{} is {}; {}", path, name_of_kind(info.st_mode),
                          S_ISBLK(info.st_mode) || S_ISDIR(info.st_mode)
                              ? fmt::format("for a volume on it, use {} without image:", path)
                              : "name a file for the image"));
}

Target parse_image(std::string_view text) {
  const auto [name, options] = split_image(text);
  Target target;
  target.kind = TargetKind::image;
  target.path = name;
  if (target.path.empty()) {
    throw Error(ErrorKind::usage,
                "missing file name after 'image:'; use image:FILE or image:FILE,size=4G");
  }
  check_image(target.path);
  if (!options) return target;
  if (!options->starts_with(kSize)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("unknown image option '{}'; use size=4G (write a comma in the file name twice)",
                    *options));
  }
  const std::string_view size = options->substr(kSize.size());
  target.size = parse_size(size, "size", ErrorKind::usage);
  if (target.size < kMinVolumeSize) {
    throw Error(
        ErrorKind::usage,
        fmt::format("an image of {} is too small for a file system; use size=64M or more", size));
  }
  return target;
}

// "start=32G,size=32G", of a block device.
void parse_part(std::string_view options, Target& target) {
  std::optional<std::uint64_t> start, size;
  for (std::string_view rest = options;;) {
    const std::string_view option = rest.substr(0, rest.find(','));
    std::optional<std::uint64_t>& value = option.starts_with(kStart) ? start : size;
    if (!begins_option(option) || value) {
      throw Error(ErrorKind::usage,
                  fmt::format("invalid part '{}' of a block device; use {},start=32G,size=32G",
                              options, target.path));
    }
    const std::size_t equals = option.find('=');
    value = parse_size(option.substr(equals + 1), option.substr(0, equals), ErrorKind::usage);
    if (*value % kPartAlignment != 0) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} is not a multiple of {}; use a multiple of 1 MiB such as 32G",
                              option, counted(kPartAlignment, "byte")));
    }
    if (option.size() == rest.size()) break;
    rest.remove_prefix(option.size() + 1);
  }
  if (size && *size < kMinVolumeSize) {
    throw Error(ErrorKind::usage,
                fmt::format("a part of {} is too small for a file system; use size=64M or more",
                            counted(*size, "byte")));
  }
  target.start = start.value_or(0);
  target.size = size.value_or(0);
}

// "32GiB", which parses as the same number.
std::string written_size(std::uint64_t bytes) {
  std::string text = bytes == 0 ? "0" : format_binary_size(bytes);
  std::erase(text, ' ');
  return text;
}

}  // namespace

std::string Target::text() const {
  if (kind != TargetKind::image) {
    std::string text = write_path(path);
    if (is_part()) text += fmt::format(",{}{}", kStart, written_size(start));
    if (is_part() && size > 0) text += fmt::format(",{}{}", kSize, written_size(size));
    return text;
  }
  std::string text(kImage);
  for (const char c : path) text += c == ',' ? ",," : std::string(1, c);
  return text;
}

std::string path_in_target(std::string_view text) {
  return text.starts_with(kImage) ? split_image(text.substr(kImage.size())).name
                                  : split_path(text).name;
}

Target parse_target(std::string_view text) {
  if (text.starts_with(kImage)) return parse_image(text.substr(kImage.size()));
  const auto [name, options] = split_path(text);
  if (name.empty()) {
    throw Error(ErrorKind::usage, "missing volume name; use a directory, image:FILE or a device");
  }
  Target target;
  target.path = name;
  struct stat info{};
  const bool there = stat(name.c_str(), &info) == 0;
  if (!there && errno != ENOENT) throw_unreachable(name, errno);
  if (there && S_ISBLK(info.st_mode)) {
    target.kind = TargetKind::block_device;
    if (options) parse_part(*options, target);
    return target;
  }
  if (options) {
    throw Error(ErrorKind::usage,
                fmt::format("{} is not a block device and has no parts ({}); write a comma before "
                            "start= or size= in a name twice",
                            name, *options));
  }
  if (there && S_ISREG(info.st_mode)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} is a file; for a volume in an image file, use {}", name,
                            Target{.kind = TargetKind::image, .path = name}.text()));
  }
  if (there && !S_ISDIR(info.st_mode)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} is {}; use a directory, image:FILE or a block device",
                            printable(name), name_of_kind(info.st_mode)));
  }
  if (!there && lstat(name.c_str(), &info) == 0) {
    throw Error(ErrorKind::usage,
                fmt::format("{} is a symbolic link to nothing; create the directory it names, or "
                            "choose another one",
                            printable(name)));
  }
  return target;  // a missing path is a directory to create
}

Target parse_device(std::string_view text) {
  const auto [name, options] = split_path(text);
  struct stat info{};
  if (stat(name.c_str(), &info) != 0 || !S_ISBLK(info.st_mode)) {
    throw Error(ErrorKind::usage, fmt::format("{}: no such block device", name));
  }
  return parse_target(text);
}

}  // namespace filereel
