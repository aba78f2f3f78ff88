#include "filesets/system/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

struct Unit {
  std::string_view name;  // lower case
  std::uint64_t size;     // bytes or nanoseconds
};

constexpr std::uint64_t kKibi = 1024;
constexpr std::array kSizes = {
    Unit{"", 1},
    Unit{"b", 1},
    Unit{"kb", 1000},
    Unit{"mb", 1000'000},
    Unit{"gb", 1000'000'000},
    Unit{"tb", 1000'000'000'000},
    Unit{"k", kKibi},
    Unit{"m", kKibi* kKibi},
    Unit{"g", kKibi* kKibi* kKibi},
    Unit{"t", kKibi* kKibi* kKibi* kKibi},
    Unit{"kib", kKibi},
    Unit{"mib", kKibi* kKibi},
    Unit{"gib", kKibi* kKibi* kKibi},
    Unit{"tib", kKibi* kKibi* kKibi* kKibi},
};

constexpr std::array kTimes = {
    Unit{"ns", 1},
    Unit{"us", 1000},
    Unit{"µs", 1000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"min", 60'000'000'000},
    Unit{"h", 3600'000'000'000},
};

// The largest unit is below 2^42, so this many decimals still multiply within 64 bits.
constexpr std::size_t kMaxDecimals = 6;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Removes and returns the leading digits of `text`.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  const auto same = [name](const Unit& unit) {
    return std::ranges::equal(unit.name, name, [](char expected, char given) {
      return expected == static_cast<char>(std::tolower(static_cast<unsigned char>(given)));
    });
  };
  return find_if_or_null(units, same);
}

// The quantity's name, smallest unit and examples for messages.
struct Quantity {
  std::string_view name, smallest, examples;
};

std::uint64_t parse_quantity(std::string_view text, std::string_view where, ErrorKind kind,
                             std::span<const Unit> units, const Quantity& quantity) {
  const auto fail = [&](std::string_view why) -> ValueError {
    return {kind,
            {.name = std::string(where),
             .value = std::string(text),
             .text = fmt::format("'{}' {}; expected a {} such as {}", printable(text), why,
                                 quantity.name, quantity.examples)}};
  };
  const std::string not_one = fmt::format("is not a {}", quantity.name);
  std::string_view rest = trimmed(text);
  if (rest.starts_with('-')) throw fail("is negative");
  const std::string_view whole = take_digits(rest);
  std::string_view decimals;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    decimals = take_digits(rest);
    if (decimals.empty()) throw fail(not_one);
  }
  if (whole.empty()) throw fail(not_one);
  while (decimals.ends_with('0')) decimals.remove_suffix(1);

  const auto number = parse_number<std::uint64_t>(whole);
  const std::string_view name = trimmed(rest);
  if (name.empty() && number == 0 && decimals.empty()) return 0;  // of any unit
  const Unit* const unit = find_unit(units, name);
  if (unit == nullptr) throw fail(name.empty() ? "has no unit" : "has an unknown unit");
  if (decimals.size() > kMaxDecimals) throw fail("has more than 6 decimals");

  std::uint64_t result = 0;
  if (!number || __builtin_mul_overflow(*number, unit->size, &result)) throw fail("is too large");
  if (!decimals.empty()) {
    if (unit->size == 1) throw fail(fmt::format("is not a whole number of {}", quantity.smallest));
    std::uint64_t scale = 1;
    for (std::size_t i = 0; i < decimals.size(); ++i) scale *= 10;
    // Rounded down: 1.3 KiB are 1331 bytes.
    const std::uint64_t part =
        parse_number<std::uint64_t>(decimals).value_or(0) * unit->size / scale;
    if (__builtin_add_overflow(result, part, &result)) throw fail("is too large");
  }
  return result;
}

// `value` with at most three significant digits.
std::string three_digits(double value) {
  return fmt::format("{:.3g}", value);
}

}  // namespace

std::uint64_t parse_size(std::string_view text, std::string_view where, ErrorKind kind) {
  return parse_quantity(text, where, kind, kSizes, {"size", "bytes", "4096, 64 KiB or 1.5 GB"});
}

std::uint64_t parse_duration(std::string_view text, std::string_view where, ErrorKind kind) {
  return parse_quantity(text, where, kind, kTimes,
                        {"time", "nanoseconds", "2s, 1.5 min or 250 ms"});
}

std::optional<double> parse_percentage(std::string_view text) {
  double percent = 0;
  const bool known = take_number(text, percent) && (text == "%" || text == " %");
  return known ? std::optional(percent / 100) : std::nullopt;
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array kNames = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  constexpr double kRoundsToThousand = 999.5;  // three digits would give 1e+03
  double value = static_cast<double>(bytes);
  std::size_t power = 0;
  while (value >= kRoundsToThousand && power + 1 < kNames.size()) {
    value /= 1000;
    ++power;
  }
  if (power == 0) return fmt::format("{} B", bytes);
  return fmt::format("{} {}", three_digits(value), kNames[power]);
}

std::string format_binary_size(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes > 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string format_number(double value) {
  constexpr double kShort = 9999.5;    // from here on with a unit
  constexpr double kThousand = 999.5;  // would print as 1000
  std::string_view unit;
  if (value >= kShort) {
    for (const std::string_view next : {"k", "M", "G"}) {
      if (value < kThousand) break;
      value /= 1000;
      unit = next;
    }
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

std::string format_roughly(double value) {
  constexpr double kWhole = 9.95, kLeast = 0.001;
  if (value >= kWhole) return fmt::format("{:.0f}", value);
  if (value > 0 && value < kLeast) return fmt::format("<{}", kLeast);
  return fmt::format("{:.2g}", value);
}

std::string format_duration(double seconds) {
  constexpr double kLongest = 1e15;  // keeps the numbers below within 64 bits
  seconds = std::clamp(seconds, 0.0, kLongest);
  if (seconds == 0) return "0 s";
  // The limits are the points at which three digits would round up to the next unit.
  if (seconds < 999.5e-9) return fmt::format("{} ns", three_digits(seconds * 1e9));
  if (seconds < 999.5e-6) return fmt::format("{} µs", three_digits(seconds * 1e6));
  if (seconds < 999.5e-3) return fmt::format("{} ms", three_digits(seconds * 1e3));
  if (seconds < 99.95) return fmt::format("{:#.3g} s", seconds);
  const long long whole = std::llround(seconds);
  const long long minutes = (whole + 30) / 60;
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

}  // namespace filereel
