#include "replay/volumes/sysfs.h"

#include <fstream>
#include <iterator>

namespace filereel {

std::string read_sysfs(const std::string& path) {
  std::ifstream in(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  const auto last = text.find_last_not_of(" \n\t");
  const auto first = text.find_first_not_of(" \n\t");
  return last == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace filereel
