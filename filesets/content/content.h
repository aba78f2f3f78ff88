// How this folder works: content.cc is one pure function from seed, content and offset to bytes,
// for writing and for verifying; content.h has named kinds of content, with their
// compressibility. Start here.
//
// File content as a pure function: every byte depends only on set seed, content and offset, so any
// part of any file can be generated or verified separately. These bytes are part of the meaning of
// reels and file sets and never change.
//
// Compressibility holds for any compressor with blocks of 4 KiB or more: each 4 KiB consists of 16
// units that start with random bytes and repeat them. zstd at level 1 comes within 3 % of the
// target for files of 64 KiB and more (below 50 permille: within 0.01), and within 0.03 for files
// of 4 KiB and more. Content of 985 permille and more is incompressible; 0 is zeros.
//
// Duplicates are whole 64 KiB chunks from a pool of 64 chunks per set and compressibility. In a set
// with few chunks of one compressibility a duplicate may remain unique.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filesets/entries.h"
#include "filesets/file_set.h"

namespace filereel {

// Writes bytes [offset, offset + out.size()) of the content into `out`. Does not allocate and
// cannot fail. Thread-safe.
void fill_content(std::uint64_t set_seed, const Content& content, std::uint64_t offset,
                  std::span<std::byte> out) noexcept;

// The same with the file's holes as zeros, as a reader of the file sees it.
void fill_file(std::uint64_t set_seed, const FileContent& file, std::uint64_t offset,
               std::span<std::byte> out) noexcept;

// Returns the first position in `data` that differs from fill_file's output, or data.size().
std::size_t first_difference(std::uint64_t set_seed, const FileContent& file, std::uint64_t offset,
                             std::span<const std::byte> data) noexcept;

// --- Named content kinds and their compressibility.

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
