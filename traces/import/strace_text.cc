#include "traces/import/strace_text.h"

#include <array>

#include "filesets/system/numbers.h"
#include "traces/calls/system_call.h"
#include "traces/import/strace_constants.h"

namespace filereel {
namespace {

constexpr std::size_t kNotFound = std::string_view::npos;

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Position after the closing quote of the string that starts at `from`.
std::size_t string_end(std::string_view text, std::size_t from) {
  std::size_t i = from + 1;
  while (i < text.size()) {
    if (text[i] == '\\') {
      i += 2;
    } else if (text[i++] == '"') {
      return i;
    }
  }
  return text.size();
}

// "3<" and "AT_FDCWD<" start an addition by -y; "1<<2" and " <unfinished" do not.
bool begins_annotation(std::string_view text, std::size_t at) {
  if (at == 0 || at + 1 >= text.size() || text[at + 1] == '<') return false;
  return is_digit(text[at - 1]) || text.substr(0, at).ends_with("AT_FDCWD");
}

// Position after the '>' that closes the '<' at `from`. Paths contain no '<' or '>' (they are
// escaped), but possibly a device, "/dev/null<char 1:3>". Sockets have arrows and quotes.
std::size_t annotation_end(std::string_view text, std::size_t from) {
  const bool path = from + 1 < text.size() && text[from + 1] == '/';
  unsigned depth = 0;
  std::size_t i = from;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '\\') {
      i += 2;
      continue;
    }
    if (!path && c == '"') {
      i = string_end(text, i);
      continue;
    }
    ++i;
    if (c == '<') ++depth;
    if (c == '>' && (path || text[i - 2] != '-') && --depth == 0) return i;
  }
  return text.size();
}

constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (const char c : {'"', '(', '[', '{', ')', ']', '}', ',', '<', '/'}) {
    special[static_cast<unsigned char>(c)] = true;
  }
  return special;
}();

// A number that is all of `text`; a larger one than fits is none.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0' && is_octal(text[1])) {
    base = 8;
  }
  const auto value = parse_number<std::uint64_t>(text, base);
  return value && negative ? 0 - *value : value;
}

// Takes "<<MAP_HUGE_SHIFT" or "<<3" from the start of `text`: the number of bits; 0 without one,
// nullopt for anything else.
std::optional<unsigned> take_shift(std::string_view& text) {
  if (!text.starts_with("<<")) return 0;
  text.remove_prefix(2);
  const std::string_view by = text.substr(0, text.find_first_of("| "));
  text.remove_prefix(by.size());
  std::optional<std::uint64_t> bits = whole_number(by);
  if (!bits) bits = strace_constant(by);
  if (!bits || *bits > 63) return std::nullopt;
  return static_cast<unsigned>(*bits);
}

}  // namespace

std::size_t strace_value_end(std::string_view text, std::size_t from) {
  unsigned depth = 0;
  std::size_t i = from;
  while (i < text.size()) {
    const char c = text[i];
    if (!kSpecial[static_cast<unsigned char>(c)]) {
      ++i;
      continue;
    }
    switch (c) {
      case '"':
        i = string_end(text, i);
        continue;
      case '(':
      case '[':
      case '{':
        ++depth;
        break;
      case ')':
      case ']':
      case '}':
        if (depth == 0) return i;
        --depth;
        break;
      case ',':
        if (depth == 0) return i;
        break;
      case '<':
        if (begins_annotation(text, i)) {
          i = annotation_end(text, i);
          continue;
        }
        break;
      default:  // '/'
        if (i + 1 < text.size() && text[i + 1] == '*') {
          const std::size_t end = text.find("*/", i + 2);
          if (end == kNotFound) return text.size();
          i = end + 2;
          continue;
        }
    }
    ++i;
  }
  return text.size();
}

StraceItems::StraceItems(std::string_view text) : text_(trimmed(text)) {
  const bool bracket = !text_.empty() && (text_[0] == '{' || text_[0] == '[');
  at_ = bracket ? 1 : text_.size();
}

bool StraceItems::next(std::string_view& item) {
  if (at_ >= text_.size()) return false;
  const std::size_t end = strace_value_end(text_, at_);
  item = trimmed(text_.substr(at_, end - at_));
  const bool more = end < text_.size() && text_[end] == ',';
  at_ = more ? end + 1 : text_.size();
  return more || !item.empty();
}

std::string_view strace_member(std::string_view structure, std::string_view name) {
  StraceItems items(structure);
  for (std::string_view item; items.next(item);) {
    if (item.size() > name.size() && item[name.size()] == '=' && item.starts_with(name)) {
      return item.substr(name.size() + 1);
    }
  }
  return {};
}

std::optional<std::uint64_t> strace_value(std::string_view text, bool& known) {
  text = trimmed(text);
  std::optional<std::uint64_t> sum;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && text[end] != '|' && text[end] != ' ' && text[end] != '<') ++end;
    const std::string_view term = text.substr(0, end);
    if (const std::optional<std::uint64_t> number = whole_number(term)) {
      text.remove_prefix(end);
      end = 0;
      const std::optional<unsigned> shift = take_shift(text);
      if (!shift) return std::nullopt;
      sum = sum.value_or(0) | *number << *shift;
    } else if (const std::optional<std::uint64_t> constant = strace_constant(term)) {
      sum = sum.value_or(0) | *constant;
    } else if (term == "NULL" || term == "(nil)") {
      sum = sum.value_or(0);
    } else if (!term.empty() && term[0] >= 'A' && term[0] <= 'Z') {
      known = false;
      sum = sum.value_or(0);
    } else {
      break;
    }
    text.remove_prefix(end);
    if (text.starts_with(" or ")) {  // two names of one value
      text.remove_prefix(4);
    } else if (text.starts_with('|')) {
      text.remove_prefix(1);
    } else {
      break;
    }
  }
  return sum;
}

std::optional<std::uint64_t> strace_value(std::string_view text) {
  bool known = true;
  return strace_value(text, known);
}

std::optional<std::uint64_t> strace_number(std::string_view text) {
  bool known = true;
  const std::optional<std::uint64_t> number = strace_value(text, known);
  return known ? number : std::nullopt;
}

std::uint64_t strace_flags(std::string_view text) {
  bool known = true;
  const std::optional<std::uint64_t> flags = strace_value(text, known);
  return flags && known ? *flags : flags.value_or(0) | kUnknownFlag;
}

bool strace_string(std::string_view text, std::string& out, bool& cut) {
  out.clear();
  text = trimmed(text);
  if (!text.starts_with('"')) return false;
  const std::size_t end = string_end(text, 0);
  if (end < 2 || text[end - 1] != '"') return false;
  strace_unescape(text.substr(1, end - 2), out);
  cut = text.substr(end).starts_with("...");
  return true;
}

bool strace_descriptor(std::string_view text, int& fd, std::string& path) {
  path.clear();
  text = trimmed(text);
  if (text.empty() || !(is_digit(text[0]) || text[0] == '-' || text.starts_with("AT_FDCWD"))) {
    return false;
  }
  const std::optional<std::uint64_t> value = strace_value(text);
  if (!value) return false;
  fd = static_cast<int>(*value);
  const std::size_t open = text.find('<');
  if (open == kNotFound || !begins_annotation(text, open)) return true;
  const std::size_t end = annotation_end(text, open);
  if (text[end - 1] != '>' || text.substr(end).starts_with("(deleted)")) return true;
  std::string_view inside = text.substr(open + 1, end - open - 2);
  if (inside.starts_with('/')) {
    inside = inside.substr(0, inside.find('<'));
    if (inside.ends_with(" (deleted)")) return true;  // written by strace before 5.15
  }
  strace_unescape(inside, path);
  return true;
}

void strace_unescape(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::size_t plain = text.find('\\');
    out.append(text.substr(0, plain));
    if (plain == kNotFound || plain + 1 >= text.size()) return;
    text.remove_prefix(plain + 1);
    const char c = text[0];
    if (is_octal(c)) {
      unsigned value = 0;
      std::size_t digits = 0;
      for (; digits < 3 && digits < text.size() && is_octal(text[digits]); ++digits) {
        value = value * 8 + static_cast<unsigned>(text[digits] - '0');
      }
      out.push_back(static_cast<char>(value));
      text.remove_prefix(digits);
      continue;
    }
    if (c == 'x' && text.size() >= 3 && hex_digit(text[1]) >= 0 && hex_digit(text[2]) >= 0) {
      out.push_back(static_cast<char>(hex_digit(text[1]) * 16 + hex_digit(text[2])));
      text.remove_prefix(3);
      continue;
    }
    switch (c) {
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'v':
        out.push_back('\v');
        break;
      case 'f':
        out.push_back('\f');
        break;
      default:
        out.push_back(c);
    }
    text.remove_prefix(1);
  }
}

}  // namespace filereel
