#include "traces/workload/sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

// A bound of a range: a number, a percentage or a size.
struct Bound {
  enum class Unit : std::uint8_t { none, percent, bytes } unit = Unit::none;
  double number = 0;
};

Bound bound_of(const YamlValue& value) {
  const std::string text = value.text();
  if (text.ends_with('%')) return {Bound::Unit::percent, value.share() / 1000.0};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (!(number >= 0 && number <= 1e15)) value.fail("must be a number from 0 to 1e15");
    return {Bound::Unit::none, number};
  }
  return {Bound::Unit::bytes, static_cast<double>(value.size())};
}

std::string written(double number, Bound::Unit unit) {
  switch (unit) {
    case Bound::Unit::percent:
      return fmt::format("{:.6g} %", number);
    case Bound::Unit::bytes:
      return format_binary_size(static_cast<std::uint64_t>(number + 0.5));
    default:
      return fmt::format("{:.12g}", number);
  }
}

// Rounding must not lose the end of a range.
constexpr double kSlack = 1e-6;

[[noreturn]] void too_many(const YamlValue& value, double points) {
  value.fail(fmt::format("makes a sweep of {:.0f} points; at most {} are run, so leave some out",
                         points, kMostPoints));
}

// {from: 0 %, to: 100 %, step: 10 %} or {from: 1, to: 256, times: 2}.
std::vector<YamlValue> range_of(const YamlValue& value) {
  const YamlMap map = value.map({"from", "to", "step", "times"});
  const Bound from = bound_of(map.require("from")), to = bound_of(map.require("to"));
  const YamlValue* const step = map.find("step");
  const YamlValue* const times = map.find("times");
  if ((step == nullptr) == (times == nullptr)) value.fail("needs either step or times");
  const bool same = from.unit == to.unit && (!step || bound_of(*step).unit == from.unit);
  if (!same) value.fail("mixes units: write all of the range with the same one");
  if (to.number < from.number) value.fail("ends before it begins");

  std::vector<YamlValue> values;
  if (step) {
    const double by = bound_of(*step).number;
    if (by <= 0) step->fail("must be more than 0");
    const double count = std::floor((to.number - from.number) / by + kSlack) + 1;
    if (count > static_cast<double>(kMostPoints)) too_many(value, count);
    for (int i = 0; i < static_cast<int>(count); ++i) {
      values.push_back(value.with_text(written(from.number + i * by, from.unit)));
    }
    return values;
  }
  const double factor = times->number(1 + 1e-6, 1e9);
  if (from.number <= 0) value.fail("must begin above 0 to be multiplied");
  const double count =
      std::floor(std::log(to.number / from.number) / std::log(factor) + kSlack) + 1;
  if (count > static_cast<double>(kMostPoints)) too_many(value, count);
  for (int i = 0; i < static_cast<int>(count); ++i) {
    values.push_back(value.with_text(written(from.number * std::pow(factor, i), from.unit)));
  }
  return values;
}

void check_different(const YamlValue& axis, const std::vector<YamlValue>& values) {
  std::set<std::string> seen;
  for (const YamlValue& value : values) {
    if (!seen.insert(value.text()).second) {
      axis.fail(fmt::format("has the value {} twice", printable(value.text())));
    }
  }
}

}  // namespace

// KEY, SCOPE.KEY, OUTER.SCOPE.KEY …
std::vector<std::string> Sweep::names_of(std::string_view key) const {
  std::vector<std::string> names = {std::string(key)};
  for (std::size_t i = scopes_.size(); i-- > 0;) names.push_back(scopes_[i] + "." + names.back());
  return names;
}

const std::vector<std::string>* Sweep::override_of(std::string_view key, const std::string& where) {
  if (overrides_.empty()) return nullptr;
  const std::vector<std::string>* given = nullptr;
  for (const std::string& name : names_of(key)) {
    const auto found = overrides_.find(name);
    if (found == overrides_.end()) continue;
    std::vector<std::string>& places = used_[found->first];
    if (std::ranges::find(places, where) == places.end()) places.push_back(where);
    given = &found->second;
  }
  return given;
}

// The shortest name that no other axis goes by; two in one list of steps, say, are numbered.
std::string Sweep::name_of(const Place& place) const {
  for (const std::string& name : place.names) {
    const auto goes_by = [&name](const Place& other) {
      return std::ranges::find(other.names, name) != other.names.end();
    };
    if (std::ranges::count_if(places_, goes_by) == 1) return name;
  }
  const std::string& longest = place.names.back();
  std::size_t number = 0;
  for (const Place& other : places_) {
    number += other.names.back() == longest;
    if (&other == &place) break;
  }
  return number > 1 ? fmt::format("{} {}", longest, number) : longest;
}

YamlValue Sweep::pick(std::string_view key, const YamlValue& value) {
  const std::string where = overrides_.empty() ? std::string() : value.where();
  const std::vector<std::string>* const given = override_of(key, where);
  if (given && given->size() == 1) return value.with_text(given->front());
  if (!given && !value.is_list() && !value.is_map()) return value;

  const std::string place = value.where();
  const auto known = std::ranges::find(places_, place, &Place::where);
  if (known != places_.end()) {
    return known->values[now_[static_cast<std::size_t>(known - places_.begin())]];
  }
  if (settled_) value.fail("is swept at some points only: write the phases as different workloads");
  std::vector<YamlValue> values;
  if (given) {
    for (const std::string& text : *given) values.push_back(value.with_text(text));
  } else {
    values = value.is_list() ? value.list(kMostPoints) : range_of(value);
  }
  if (values.empty()) value.fail("is an empty list: give at least one value");
  check_different(value, values);
  points_ *= values.size();
  if (points_ > kMostPoints) too_many(value, static_cast<double>(points_));
  if (places_.size() == kMostAxes) {
    value.fail(
        fmt::format("is swept, and {} other values are: no more than that can be", kMostAxes));
  }
  places_.push_back({place, names_of(key), std::move(values)});
  now_.push_back(0);
  return places_.back().values.front();
}

void Sweep::settle() {
  settled_ = true;
  for (const auto& [name, values] : overrides_) {
    const auto used = used_.find(name);
    if (used == used_.end()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("the workload has no value '{}' that could be replaced", printable(name)));
    }
    if (used->second.size() > 1) {
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' stands in the workload {} times: write NAME.{}, with the name "
                              "of the phase or the files it is of",
                              printable(name), used->second.size(), printable(name)));
    }
  }
  // In the order of the text, whatever the order in which its keys are read.
  std::ranges::stable_sort(places_, [](const Place& a, const Place& b) {
    return a.values.front().stands_before(b.values.front());
  });
  for (const Place& place : places_) {
    SweepAxis axis;
    axis.name = name_of(place);
    for (const YamlValue& value : place.values) axis.values.push_back(value.text());
    axes_.push_back(std::move(axis));
  }
}

std::vector<std::size_t> Sweep::at(std::uint64_t point) const {
  std::vector<std::size_t> numbers(places_.size());
  for (std::size_t i = places_.size(); i-- > 0;) {
    const std::size_t length = places_[i].values.size();
    numbers[i] = point % length;
    point /= length;
  }
  return numbers;
}

void Sweep::go_to(std::uint64_t point) {
  now_ = at(point);
}

}  // namespace filereel
