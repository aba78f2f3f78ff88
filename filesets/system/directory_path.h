// Paths of directories that were opened earlier, and of those that do not exist any more. The
// functions for names need the working directory for relative ones only, unlike Boost's: absolute
// ones work after it was removed.
#pragma once

#include <string>

namespace filereel {

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

}  // namespace filereel
