// Names that file systems take, and the room that file sets need on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "replay/volumes/file_system.h"

namespace filereel {

// The name of a directory entry on a file system with Windows' rules, which refuses < > : " | ? *
// \, control characters, a dot or space at the end, device names such as CON, and names that are
// not UTF-8. Refused bytes become % and two hexadecimal digits. So does a % that could be taken for
// an escape. Device names get their last character before the extension escaped. With `ascii_only`
// all bytes above 0x7e are escaped. Names that need nothing stay as they are.
std::string escape_name(std::string_view name, bool ascii_only);

// The name that escape_name was given, also with a case mark (see below).
std::string unescape_name(std::string_view name);

// `name` so that names which Windows takes for one, as only cases differ, become equal.
std::string fold_case(std::string_view name);

// Throws Error(failed) if `name`, an entry of a directory that was called `original` before it was
// escaped, is longer than a volume with such limits takes; `advice` says what to do.
void check_name_length(std::string_view name, std::string_view original,
                       const FileSystemLimits& limits, std::string_view advice);

struct EscapedPath {
  std::string original, escaped;
};

// Files, directories and symbolic links that `copies` copies of the set are, with their roots.
std::uint64_t entries_needed(const FileSet& set, std::uint64_t copies);

// Bytes that `copies` copies of the set take on a volume with such limits, a margin for directories
// and the file system's own records included.
std::uint64_t space_needed(const FileSet& set, const FileSystemLimits& limits,
                           std::uint64_t copies);

}  // namespace filereel
