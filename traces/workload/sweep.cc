#include "traces/workload/sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

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
  if (const auto number = parse_number<double>(text)) {
    if (!(*number >= 0 && *number <= 1e15)) value.fail("must be a number from 0 to 1e15");
    return {Bound::Unit::none, *number};
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
  value.fail(
      fmt::format("makes a sweep of {:.0f} points, but at most {} are allowed: remove some values",
                  points, kMostPoints));
}

// {from: 0 %, to: 100 %, step: 10 %} or {from: 1, to: 256, times: 2}.
std::vector<YamlValue> range_of(const YamlValue& value) {
  const YamlMap map = value.map({"from", "to", "step", "times"});
  const Bound from = bound_of(map.require("from")), to = bound_of(map.require("to"));
  const YamlValue* const step = map.find("step");
  const YamlValue* const times = map.find("times");
  if ((step == nullptr) == (times == nullptr)) value.fail("needs either 'step' or 'times'");
  const bool same = from.unit == to.unit && (!step || bound_of(*step).unit == from.unit);
  if (!same) value.fail("mixes units: use one unit for the whole range");
  if (to.number < from.number) value.fail("ends before it starts");

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
  if (from.number <= 0) value.fail("must start above 0 to be multiplied");
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
      axis.fail(fmt::format("has the duplicate value {}", printable(value.text())));
    }
  }
}

// The shortest unique name of each key. Keys without one are numbered, such as two in one list of
// steps.
std::vector<std::string> short_names(const std::vector<std::vector<std::string>>& all) {
  std::unordered_map<std::string, std::size_t> known, numbers;
  for (const std::vector<std::string>& names : all) {
    for (const std::string& name : names) ++known[name];
  }
  std::vector<std::string> shortest;
  for (const std::vector<std::string>& names : all) {
    const auto own =
        std::ranges::find_if(names, [&](const auto& name) { return known[name] == 1; });
    if (own != names.end()) {
      shortest.push_back(*own);
      continue;
    }
    const std::size_t number = ++numbers[names.back()];
    shortest.push_back(number > 1 ? fmt::format("{} {}", names.back(), number) : names.back());
  }
  return shortest;
}

std::vector<std::string> texts_of(const std::vector<YamlValue>& values) {
  std::vector<std::string> texts;
  for (const YamlValue& value : values) texts.push_back(value.text());
  return texts;
}

}  // namespace

// KEY, SCOPE.KEY, OUTER.SCOPE.KEY …
std::vector<std::string> Sweep::names_of(std::string_view key) const {
  std::vector<std::string> names = {std::string(key)};
  for (std::size_t i = scopes_.size(); i-- > 0;)
    names.push_back(scopes_[i].name + "." + names.back());
  return names;
}

Sweep::Sweep(const Sweep& read, const SweepOverrides& overrides) {
  for (const auto& [name, values] : overrides) {
    overrides_[read.found_[read.number_of(name)].where] = values;
  }
}

// The key that `name` means: written keys take precedence over omitted ones.
std::size_t Sweep::number_of(const std::string& name) const {
  std::vector<std::string_view> known, alike;
  for (const bool written : {true, false}) {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i].written != written) continue;
      if (keys_[i].name == name) return i;
      known.push_back(keys_[i].name);
    }
  }
  for (const bool written : {true, false}) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::vector<std::string>& names = found_[i].names;
      if (found_[i].written != written || !contains(names, name)) continue;
      alike.push_back(keys_[i].name);
      last = i;
    }
    if (alike.size() == 1) return last;
    if (!alike.empty()) break;
  }
  if (alike.empty()) {
    throw SweepError(SweepError::Fault::unknown_key, name,
                     fmt::format("unknown key '{}' of the workload{}", printable(name),
                                 did_you_mean(name, known)));
  }
  constexpr std::size_t kShown = 5;
  const bool more = alike.size() > kShown;
  alike.resize(std::min(alike.size(), kShown));
  throw SweepError(SweepError::Fault::values, name,
                   fmt::format("ambiguous key '{}' of the workload: use {}{}", printable(name),
                               printable(fmt::format("{}", fmt::join(alike, " or "))),
                               more ? " or another full name" : ""));
}

std::optional<YamlValue> Sweep::pick(std::string_view key, const YamlMap& map) {
  const YamlValue* const written = map.find(key);
  const bool many = written && (written->is_list() || written->is_map());
  const auto as_written = [&] { return written ? std::optional(*written) : std::nullopt; };
  if (settled_ && overrides_.empty() && !many) return as_written();
  const std::string where =
      written ? written->where() : fmt::format("{} {}", map.self().where(), key);
  const auto found = overrides_.find(where);
  const std::vector<std::string>* const given =
      found == overrides_.end() ? nullptr : &found->second;
  const YamlValue value = written ? *written : map.self().missing_key(key);
  const bool replaced = given && given->size() == 1;
  YamlValue single = replaced ? value.with_text(given->front()) : value;
  if (!settled_) note(key, where, single, written != nullptr);
  if (replaced) return single;
  return given || many ? pick_axis(key, where, value, given) : as_written();
}

YamlValue Sweep::pick_axis(std::string_view key, const std::string& where, const YamlValue& value,
                           const std::vector<std::string>* given) {
  const auto known = std::ranges::find(places_, where, &Place::where);
  if (known != places_.end()) {
    return known->values[now_[static_cast<std::size_t>(known - places_.begin())]];
  }
  if (settled_) value.fail("is swept at some points only: write separate workloads");
  std::vector<YamlValue> values;
  if (given) {
    for (const std::string& text : *given) values.push_back(value.with_text(text));
  } else {
    values = value.is_list() ? value.list(kMostPoints) : range_of(value);
  }
  if (values.empty()) value.fail("is empty: add at least one value");
  check_different(value, values);
  points_ *= values.size();
  if (points_ > kMostPoints) too_many(value, static_cast<double>(points_));
  if (places_.size() == kMostAxes) {
    value.fail(fmt::format("is one sweep too many: at most {} keys can be swept", kMostAxes));
  }
  places_.push_back({where, names_of(key), std::move(values)});
  now_.push_back(0);
  return places_.back().values.front();
}

void Sweep::note(std::string_view key, const std::string& where, const YamlValue& value,
                 bool written) {
  const auto [known, fresh] = numbers_.emplace(where, found_.size());
  const bool in_phase = scopes_.empty() || scopes_.front().kind == ScopeKind::phase;
  if (fresh) found_.push_back({where, {}, {value}, written, in_phase});
  std::vector<std::string>& names = found_[known->second].names;
  for (std::string& name : names_of(key)) {
    if (!contains(names, name)) names.push_back(std::move(name));
  }
}

void Sweep::settle() {
  settled_ = true;
  // In the order of the text, regardless of the order in which keys are read.
  const auto before = [](const Place& a, const Place& b) {
    return a.values.front().is_before(b.values.front());
  };
  std::ranges::stable_sort(places_, before);
  std::ranges::stable_sort(found_, before);
  name_keys();
  for (const Place& axis : places_) axes_.push_back({axis_name(axis), texts_of(axis.values)});
}

// Unlike a key, an axis may have a name that a group of files has, too: results are those of
// phases.
std::string Sweep::axis_name(const Place& axis) const {
  const auto has = [](const Place& place, const std::string& name) {
    return contains(place.names, name);
  };
  std::size_t own = 0;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (found_[i].where == axis.where) own = i;
  }
  const auto others = [&](const std::string& name) {
    return std::ranges::any_of(found_, [&](const Place& other) {
      const bool is_axis = contains(places_, other.where, &Place::where);
      return other.where != axis.where &&
             (is_axis || (other.written && other.in_phase && found_[own].in_phase)) &&
             has(other, name);
    });
  };
  const auto unique =
      std::ranges::find_if(found_[own].names, [&](const auto& name) { return !others(name); });
  return unique == found_[own].names.end() ? keys_[own].name : *unique;
}

// An omitted key never takes the name of a written one.
void Sweep::name_keys() {
  numbers_.clear();
  std::vector<std::vector<std::string>> written, all;
  for (const Place& place : found_) {
    all.push_back(place.names);
    if (place.written) written.push_back(place.names);
  }
  const std::vector<std::string> of_all = short_names(all), of_written = short_names(written);
  std::size_t next = 0;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const Place& place = found_[i];
    keys_.push_back({place.written ? of_written[next++] : of_all[i], {}});
    if (const auto* axis = find_or_null(places_, place.where, &Place::where)) {
      keys_.back().values = texts_of(axis->values);
    } else if (place.written) {
      keys_.back().values = texts_of(place.values);
    }
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
