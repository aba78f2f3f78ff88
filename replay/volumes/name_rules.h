// File name rules of file systems, and the space that file sets need on them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "replay/results/volume_description.h"
#include "replay/volumes/file_system.h"

namespace filereel {

// Escapes a name for a file system with Windows rules. These reject < > : " | ? * \, control
// characters, a trailing dot or space, device names such as CON, and names that are not UTF-8.
// Rejected bytes become % and two hexadecimal digits, as does a % that looks like an escape. In
// device names the last character, before spaces and extension, is escaped. With `ascii_only` all
// bytes above 0x7e are escaped. Valid names stay unchanged.
std::string escape_name(std::string_view name, bool ascii_only);

// Reverses escape_name, also for names with a case mark (see below).
std::string unescape_name(std::string_view name);

// `text`, of a symbolic link, with each component replaced by `map(component)`, except for empty
// ones and ".".
std::string map_components(std::string_view text,
                           const std::function<std::string(std::string_view)>& map);

// Folds the case of `name`: names that Windows does not distinguish become equal.
std::string fold_case(std::string_view name);

// Whether a fresh volume has an entry of this name in its root: "lost+found", which also exists on
// volumes of others, the files of NTFS, the label that fusefat lists.
bool exists_in_root(std::string_view name, const FileSystemLimits& limits);

// Throws Error(failed) if `name`, escaped from `original`, is longer than a volume with such limits
// allows. `advice` says what to do.
void check_name_length(std::string_view name, std::string_view original,
                       const FileSystemLimits& limits, std::string_view advice);

// The least slots that a name takes in a directory.
std::uint32_t slots_needed(std::string_view name, const DirectorySlots& slots);

// Number of files, directories and symbolic links in `copies` copies of the set, including their
// roots.
std::uint64_t entries_needed(const FileSet& set, std::uint64_t copies);

// Space in bytes for `copies` copies of the set on a volume with such limits, including a generous
// margin for directories and file system metadata: for the size of images.
std::uint64_t space_needed(const FileSet& set, const FileSystemLimits& limits,
                           std::uint64_t copies);

// The least space in bytes that they can take there: a volume with less cannot hold them.
std::uint64_t least_space(const FileSet& set, const FileSystemLimits& limits, std::uint64_t copies);

}  // namespace filereel
