// What is at a path, the names in a directory, and opening without leaving a directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// --- The name of a file, and what stands at a path, by stat(2) and mkdir(2). Boost's functions for
// it call statx in newer versions, which the policies of some containers deny, and then nothing
// seems to exist.

// The last component of a path.
inline std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// The kind (S_IFMT of stat(2)) of the name itself, which may be a symbolic link; 0 if there is
// nothing, or it cannot be looked up.
mode_t kind_of_name(const std::string& path);

// The text of a symbolic link; "" if it is none, or cannot be read.
std::string link_text(const std::string& path);

bool path_exists(const std::string& path);
bool is_regular_file(const std::string& path);
bool is_directory(const std::string& path);

// Whether both lead to the same file or directory.
bool is_same_file(const std::string& path, const std::string& other);

// Creates a directory and its missing parents, and returns 0 or an error number.
int make_directories(const std::string& path);

// --- Paths of directories that were opened earlier, and of those that do not exist any more. The
// functions for names need the working directory for relative ones only, unlike Boost's: absolute
// ones work after it was removed.

// Returns an absolute path that leads to the open directory now, also without /proc: `expected` if
// it still does, another one if the directory was renamed. Returns "" if it was removed or is
// unreachable (unmounted, hidden by another mount, outside the root directory).
std::string path_of_directory(int directory, const std::string& expected);

// Makes a path absolute without following symbolic links. Returns a relative one unchanged if the
// working directory was removed.
std::string absolute_path(const std::string& path);

// Returns the absolute path without symbolic links, "." and ".."; "" with errno set if it does not
// exist or cannot be looked up.
std::string canonical_path(const std::string& path);

// The same for a path whose last names need not exist: the same text for all names of a place.
// What cannot be looked up is kept as it is.
std::string full_path(const std::string& path);

// False if the working directory was removed, or unmounted: no relative path leads anywhere.
bool has_working_directory();

// --- Lists directories.

// Returns the names in a directory open for reading, unordered, without "." and "..". Reads all
// names at once, so that a deep tree needs one descriptor per level. Returns nothing on failure,
// with errno set.
std::optional<std::vector<std::string>> names_in(int directory);

// The same for a directory of the kernel, such as one in /sys or /proc, whose entries come and go;
// empty if it cannot be read.
std::vector<std::string> names_at(const std::string& path);

// --- Safe access to a tree that other processes may change.

enum class MountPoints { refuse, cross };

// Opens the directory `path` ("" for `root` itself) with `flags` of open(2). Never leaves `root`
// and never follows a symbolic link. Returns an empty Descriptor with errno set on failure: EXDEV
// for a refused mount point.
Descriptor open_directory_beneath(int root, const std::string& path, int flags,
                                  MountPoints mount_points);

}  // namespace filereel
