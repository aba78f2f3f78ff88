#include "filesets/printable.h"

#include <iterator>

#include <fmt/format.h>

namespace filereel {

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return text.size() > max_bytes ? out + "..." : out;
}

}  // namespace filereel
