// Decodes UTF-8, and counts the columns that it takes on a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace filereel {

struct Character {
  char32_t code;
  std::size_t length;  // in bytes
};

// Returns the first character of the non-empty `text`, or nothing if it is not valid UTF-8.
std::optional<Character> first_character(std::string_view text);

struct CodeRange {
  char32_t first, last;
};
// Whether one of the ranges, which ascend, has the character.
bool is_in(std::span<const CodeRange> ranges, char32_t code);

// Columns on a terminal (utf8.cc): 2 for wide characters such as those of Chinese and
// emoji, 0 for combining marks, otherwise 1.
std::size_t columns_of(char32_t code);
// Of a text; 1 for each byte that is not UTF-8.
std::size_t columns_of(std::string_view text);

}  // namespace filereel
