// The name of a file, and what stands at a path, by stat(2) and mkdir(2). Boost's functions for it
// call statx in newer versions, which the policies of some containers deny, and then nothing seems
// to exist.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

namespace filereel {

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

}  // namespace filereel
