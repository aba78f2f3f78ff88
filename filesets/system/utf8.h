// Decodes UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace filereel {

struct Character {
  char32_t code;
  std::size_t length;  // in bytes
};

// Returns the first character of the non-empty `text`, or nothing if it is not valid UTF-8.
std::optional<Character> first_character(std::string_view text);

}  // namespace filereel
