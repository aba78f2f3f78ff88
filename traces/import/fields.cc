#include "traces/import/fields.h"

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

std::string_view trim_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

std::string_view take_last_field(std::string_view& line) {
  line = trim_end(line);
  const std::size_t begin = line.find_last_of(kBlanks) + 1;
  const std::string_view field = line.substr(begin);
  line = trim_end(line.substr(0, begin));
  return field;
}

std::optional<std::int64_t> parse_any_base(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  if (text.starts_with('-')) return std::nullopt;
  const std::optional<std::int64_t> value = parse_number<std::int64_t>(text, base);
  return value && negative ? -*value : value;
}

void reject_line(const LineReader& input, std::string_view what, std::string_view what_to_do) {
  throw Error(ErrorKind::unusable_input, fmt::format("{}:{}: {}; {}", printable(input.name()),
                                                     input.line(), what, what_to_do));
}

}  // namespace filereel
