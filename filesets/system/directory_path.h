// Paths of directories that were opened earlier, and of those that do not exist any more.
#pragma once

#include <string>

namespace filereel {

// Returns an absolute path that leads to the open directory now, also without /proc: `expected` if
// it still does, another one if the directory was renamed. Returns "" if it was removed or is
// unreachable (unmounted, hidden by another mount, outside the root directory).
std::string path_of_directory(int directory, const std::string& expected);

// Makes a path absolute without following symbolic links. Returns it unchanged if the working
// directory was removed.
std::string absolute_path(const std::string& path);

}  // namespace filereel
