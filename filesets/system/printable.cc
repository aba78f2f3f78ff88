#include "filesets/system/printable.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "filesets/system/utf8.h"

namespace filereel {
namespace {

// Unsafe code points above the ASCII control bytes.
constexpr CodeRange kUnsafe[] = {
    {0x7f, 0x9f},        // DEL and C1: U+009B starts a sequence like ESC [
    {0x61c, 0x61c},      // Arabic letter mark
    {0x200b, 0x200b},    // zero width space
    {0x200e, 0x200f},    // left-to-right and right-to-left marks
    {0x2028, 0x202e},    // line and paragraph separators; directional embeddings and overrides
    {0x2060, 0x206f},    // word joiner, invisible operators, directional isolates
    {0xfeff, 0xfeff},    // byte order mark
    {0xe0000, 0xe007f},  // tags, which are invisible
};

bool is_unsafe(char32_t code) {
  constexpr char32_t kFirstOfText = 0x20;
  return code < kFirstOfText || is_in(kUnsafe, code);
}

// Appends the first character of `text`; returns its length.
std::size_t append_first(std::string_view text, std::string& out) {
  constexpr char32_t kAscii = 0x80;
  constexpr char32_t kFourDigits = 0xffff;
  const auto end = std::back_inserter(out);
  const std::optional<Character> character = first_character(text);
  if (!character || (character->code < kAscii && is_unsafe(character->code))) {
    fmt::format_to(end, "\\x{:02x}", static_cast<unsigned char>(text.front()));
    return 1;
  }
  if (!is_unsafe(character->code)) {
    out += text.substr(0, character->length);
  } else if (character->code <= kFourDigits) {
    fmt::format_to(end, "\\u{:04x}", static_cast<unsigned>(character->code));
  } else {
    fmt::format_to(end, "\\U{:08x}", static_cast<unsigned>(character->code));
  }
  return character->length;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size() && at < max_bytes) at += append_first(text.substr(at), out);
  return at < text.size() ? out + "..." : out;
}

std::string printable_line(std::string_view text) {
  return printable(text, text.size());
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n' || text[at] == '\t') {
      out += text[at++];
    } else {
      at += append_first(text.substr(at), out);
    }
  }
  return out;
}

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
