// Values in strace's output: strings with escapes, numbers, flags by name, descriptors with paths,
// structures and arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace filereel {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The end of the value that starts at `from`: the comma or closing bracket after it, or the end of
// `text`. Skips strings, nested brackets, comments and the paths of descriptors.
std::size_t strace_value_end(std::string_view text, std::size_t from);

// The values in brackets, in order: "{a=1, b=2}", "[1, 2]".
class StraceItems {
 public:
  // Text without an opening bracket has no items.
  explicit StraceItems(std::string_view text);
  // The next item without blanks around it; false at the end.
  bool next(std::string_view& item);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// The value of a member of a structure "{name=value, …}"; empty if it is missing.
std::string_view strace_member(std::string_view structure, std::string_view name);

// A number in any base ("0x10", "0644", "-1" as two's complement, "NULL"), a name of
// strace_constant, or several of these separated by '|'. A comment after it is ignored. Nullopt for
// anything else; `known` becomes false if a name has no value here.
std::optional<std::uint64_t> strace_value(std::string_view text, bool& known);
std::optional<std::uint64_t> strace_value(std::string_view text);

// The same, and nullopt if a name has no value here.
std::optional<std::uint64_t> strace_number(std::string_view text);
// The same for flags: with kUnknownFlag if one of them is unknown, or if the text is not flags.
std::uint64_t strace_flags(std::string_view text);

// Parses "text" in quotes. False if it is not a string (NULL, an address). `cut`: "..." replaces
// its end.
bool strace_string(std::string_view text, std::string& out, bool& cut);

// "3", "3</path>", "AT_FDCWD</path>", "3</path>(deleted)". `path` is the part between < and >,
// without the device added by -yy; empty if it is missing, or if the file is deleted and its name
// is useless. False if it is not a descriptor.
bool strace_descriptor(std::string_view text, int& fd, std::string& path);

// Appends `text` to `out` with its escapes (\n, \", \ooo, \xhh …) decoded.
void strace_unescape(std::string_view text, std::string& out);

}  // namespace filereel
