#include "filesets/system/path_kind.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include <sys/stat.h>
#include <unistd.h>

namespace filereel {
namespace {

// Of what the path leads to.
mode_t kind_of_path(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

}  // namespace

mode_t kind_of_name(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

std::string link_text(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

bool path_exists(const std::string& path) {
  return kind_of_path(path) != 0;
}

bool is_regular_file(const std::string& path) {
  return kind_of_path(path) == S_IFREG;
}

bool is_directory(const std::string& path) {
  return kind_of_path(path) == S_IFDIR;
}

bool is_same_file(const std::string& path, const std::string& other) {
  struct stat one{}, two{};
  return ::stat(path.c_str(), &one) == 0 && ::stat(other.c_str(), &two) == 0 &&
         one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

int make_directories(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string folder = path.substr(0, end);
    if (is_directory(folder)) continue;
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return errno;
  }
  return is_directory(path) ? 0 : ENOTDIR;
}

}  // namespace filereel
