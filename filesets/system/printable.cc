#include "filesets/system/printable.h"

#include <algorithm>
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

}  // namespace filereel
