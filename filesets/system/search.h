// Linear searches of ranges.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>

namespace filereel {

template <std::ranges::input_range Range, class Value, class Projection = std::identity>
constexpr bool contains(Range&& range, const Value& value, Projection projection = {}) {
  return std::ranges::find(range, value, std::move(projection)) != std::ranges::end(range);
}

// The first element whose projection is `value`; null if there is none.
template <std::ranges::borrowed_range Range, class Value, class Projection = std::identity>
constexpr auto find_or_null(Range&& range, const Value& value, Projection projection = {}) {
  const auto found = std::ranges::find(range, value, std::move(projection));
  return found == std::ranges::end(range) ? nullptr : std::addressof(*found);
}

// The first element with the property; null if there is none.
template <std::ranges::borrowed_range Range, class Property>
constexpr auto find_if_or_null(Range&& range, Property property) {
  const auto found = std::ranges::find_if(range, std::move(property));
  return found == std::ranges::end(range) ? nullptr : std::addressof(*found);
}

}  // namespace filereel
