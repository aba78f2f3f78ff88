// Kinds of content by name, with how well each compresses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filesets/file_set.h"

namespace filereel {

struct ContentKind {
  std::string_view name;
  std::uint16_t compressed_permille;  // size after zstd level 1, in thousandths of the size before
  std::string_view source;            // where the figure comes from, or "assumed"
  std::string_view extensions;        // in small letters, between spaces: " jpg jpeg "
};

// All kinds, the general ones first. Content of a kind differs from file to file.
std::span<const ContentKind> content_kinds();

// The kind of that name, or nullptr.
const ContentKind* find_content_kind(std::string_view name);

// The kind that files with this extension (without the dot, in any case) mostly have; the kind
// "mixed" where the extension is unknown.
const ContentKind& content_kind_of_extension(std::string_view extension);

// The part of a path's last component behind its last dot; empty if there is none or it comes
// first.
std::string_view extension_of(std::string_view path);

// The names of all kinds, separated by commas, for messages.
std::string content_kind_names();

// The key of a file's content where nothing else decides it: a hash of its path, so that it stays
// the same when other files come and go.
std::uint64_t content_key(std::string_view path);

}  // namespace filereel
