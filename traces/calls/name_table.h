// Tables of names with a lookup for each line of a trace.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace filereel {

// Shorter names come first: most comparisons then end at the lengths.
struct ByLength {
  constexpr bool operator()(std::string_view a, std::string_view b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

// Entries have a member `name`.
template <typename Entry, std::size_t N>
consteval std::array<Entry, N> sorted_by_name(std::array<Entry, N> table) {
  std::ranges::sort(table, ByLength(), &Entry::name);
  return table;
}

// Null if the name is unknown. `table` comes from sorted_by_name.
template <typename Entry, std::size_t N>
const Entry* find_by_name(const std::array<Entry, N>& table, std::string_view name) {
  const auto at = std::ranges::lower_bound(table, name, ByLength(), &Entry::name);
  return at != table.end() && at->name == name ? &*at : nullptr;
}

}  // namespace filereel
