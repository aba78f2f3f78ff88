// Reads numbers in texts.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace filereel {

// Removes a number from the start of `text`. False, and `text` stays, if there is none or it does
// not fit; `number` is then any.
template <class Number>
bool take_number(std::string_view& text, Number& number, int base = 10) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(begin, end, number);
  } else {
    read = std::from_chars(begin, end, number, base);
  }
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - begin));
  return true;
}

// Reads a number that is the whole of `text`. After false, `number` is any.
template <class Number>
bool parse_number(std::string_view text, Number& number, int base = 10) {
  return take_number(text, number, base) && text.empty();
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  return parse_number(text, number, base) ? std::optional(number) : std::nullopt;
}

// The same for a number from `least` to `most`.
template <class Number>
std::optional<Number> parse_number_in(std::string_view text, Number least, Number most) {
  Number number{};
  const bool is_inside = parse_number(text, number) && number >= least && number <= most;
  return is_inside ? std::optional(number) : std::nullopt;
}

}  // namespace filereel
