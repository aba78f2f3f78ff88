// Named content kinds and their compressibility.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filesets/file_set.h"

namespace filereel {

struct ContentKind {
  std::string_view name;
  std::uint16_t
      compressed_permille;      // compressed size (zstd level 1), in thousandths of the original
  std::string_view source;      // of the figure, or "assumed"
  std::string_view extensions;  // lower case, between spaces: " jpg jpeg "
};

// All kinds, general ones first. Files of a kind have different content.
std::span<const ContentKind> content_kinds();

// The kind of that name, or nullptr.
const ContentKind* find_content_kind(std::string_view name);

// The usual kind of files with this extension (without the dot, in any case), or "mixed" for an
// unknown extension.
const ContentKind& content_kind_of_extension(std::string_view extension);

// The text after the last dot of a path's last component. Empty if there is no dot or it is the
// first character.
std::string_view extension_of(std::string_view path);

// The names of all kinds, separated by commas, for messages.
std::string content_kind_names();

// The default content key of a file: a hash of its path, so that it does not depend on other files.
std::uint64_t content_key(std::string_view path);

}  // namespace filereel
