#include "filesets/system/escapes.h"

#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace filereel {
namespace {

bool must_be_escaped(unsigned char byte, Blanks blanks) {
  return byte < 0x20 || byte == 0x7f || byte == '\\' || (byte == ' ' && blanks == Blanks::escaped);
}

}  // namespace

void append_escaped(std::string_view bytes, Blanks blanks, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (must_be_escaped(byte, blanks)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
}

bool unescape(std::string_view text, Blanks blanks, std::string& out) {
  out.clear();
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte != '\\') {
      if (must_be_escaped(byte, blanks)) return false;
      out += text[i];
      continue;
    }
    if (text.size() - i < 4 || text[i + 1] != 'x') return false;
    const int high = digit(text[i + 2]);
    const int low = digit(text[i + 3]);
    if (high < 0 || low < 0 ||
        !must_be_escaped(static_cast<unsigned char>(high * 16 + low), blanks)) {
      return false;
    }
    out += static_cast<char>(high * 16 + low);
    i += 3;
  }
  return true;
}

}  // namespace filereel
