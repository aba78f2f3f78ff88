#include "filesets/system/utf8.h"

namespace filereel {

std::optional<Character> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return Character{byte(0), 1};
  std::size_t length = 0;
  char32_t code = 0, least = 0;
  if ((byte(0) & 0xe0) == 0xc0)
    length = 2, code = byte(0) & 0x1f, least = 0x80;
  else if ((byte(0) & 0xf0) == 0xe0)
    length = 3, code = byte(0) & 0x0f, least = 0x800;
  else if ((byte(0) & 0xf8) == 0xf0)
    length = 4, code = byte(0) & 0x07, least = 0x10000;
  if (length == 0 || text.size() < length) return std::nullopt;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3f);
  }
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return std::nullopt;
  return Character{code, length};
}

}  // namespace filereel
