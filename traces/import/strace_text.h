// The values in strace's text: strings with escapes, numbers, flags by name, descriptors with
// paths, structures and arrays.
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

// Where the value that begins at `from` ends: at the comma or the closing bracket behind it, or at
// the end of `text`. Strings, nested brackets, comments and the paths of descriptors are passed
// over.
std::size_t strace_value_end(std::string_view text, std::size_t from);

// The values in brackets, one after another: "{a=1, b=2}", "[1, 2]".
class StraceItems {
 public:
  // Text that begins with no bracket has no items.
  explicit StraceItems(std::string_view text);
  // The next item without blanks around it; false at the end.
  bool next(std::string_view& item);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// The value of a member of a structure "{name=value, …}"; empty if there is none.
std::string_view strace_member(std::string_view structure, std::string_view name);

// A number in any base ("0x10", "0644", "-1" as two's complement, "NULL"), a name of
// strace_constant, or several of these with '|' between. Comments behind it are ignored. Nothing if
// it begins with neither; `known` becomes false if a name in it has no value here.
std::optional<std::uint64_t> strace_value(std::string_view text, bool& known);
std::optional<std::uint64_t> strace_value(std::string_view text);

// Takes "text" in quotes apart. False if it is no string (NULL, an address). `cut`: "..." stands
// for its end.
bool strace_string(std::string_view text, std::string& out, bool& cut);

// "3", "3</path>", "AT_FDCWD</path>", "3</path>(deleted)". `path` is what stands between < and >,
// without what -yy adds of devices; empty if there is nothing, or the file is deleted and its name
// says nothing anymore. False if it is no descriptor.
bool strace_descriptor(std::string_view text, int& fd, std::string& path);

// Adds `text` to `out` with its escapes (\n, \", \ooo, \xhh …) undone.
void strace_unescape(std::string_view text, std::string& out);

}  // namespace filereel
