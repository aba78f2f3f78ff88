// A verdict says that something changed, not why. This lists what else differs, so that the reader
// can judge whether the intended change is the only one. The danger is a long list of what follows
// from something else: on a larger volume, mkfs chooses other values. So a property that mkfs
// derives from the size counts as a change of the file system only if the file system was made in
// another way, too (follows_from_size), and space in use counts only beyond what different file
// systems take for themselves (compare_use).
//
// Unknown values do not differ from anything: older results lack properties, and a list of them
// would be the same for all comparisons with such results. The properties are a table
// (properties.cc); this file only finds those with several values among the groups.
#include "replay/compare/changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/wording.h"
#include "replay/compare/properties.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

// The median share in use before the first step.
std::optional<double> used_before(const PreparedGroup& results, Role role) {
  std::vector<double> shares;
  for (const PreparedResult& prepared : results) {
    for (const VolumeDescription& volume : prepared.volumes) {
      if (volume.role == role && volume.used) shares.push_back(*volume.used);
    }
  }
  return shares.empty() ? std::nullopt : std::optional(median(shares));
}

// Whether mkfs chooses it by the size of the volume, which differs: that is no other way to make
// the file system.
bool follows_from_size(const Difference& difference, std::span<const Difference> all) {
  static constexpr auto kBySize =
      std::to_array<std::string_view>({"inodes per group", "reserved blocks", "journal size",
                                       "groups", "inode share", "cluster size"});
  return std::ranges::any_of(all, [&](const Difference& size) {
    if (!size.what.starts_with(kVolumeSize)) return false;
    const std::string of = size.what.substr(kVolumeSize.size());  // " of ext4 (near)"
    return std::ranges::any_of(
        kBySize, [&](std::string_view name) { return difference.what == std::string(name) + of; });
  });
}

// Volumes are compared as fuller only if it may matter: some file systems take several percent for
// themselves.
void compare_use(std::span<const PreparedGroup> groups, bool made_differently,
                 std::vector<Difference>& list) {
  const double matters = made_differently ? 0.25 : 0.05;
  for (std::size_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    Difference difference{ChangeKind::other, fmt::format("space in use ({})", role_name(role)), {}};
    double least = 1, most = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const std::optional<double> used = used_before(groups[group], role);
      if (!used) continue;
      least = std::min(least, *used);
      most = std::max(most, *used);
      difference.add(fmt::format("{:.0f} %", *used * 100), group);
    }
    if (most - least >= matters) list.push_back(std::move(difference));
  }
}

// Names of groups, in a text: "a, b".
std::string list_of(const std::vector<std::size_t>& groups, std::span<const std::string> names) {
  std::vector<std::string> list;
  for (const std::size_t group : groups) list.push_back(names[group]);
  return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace

void Difference::add(const std::string& text, std::size_t group) {
  auto found = std::ranges::find(values, text, &Value::text);
  if (found == values.end()) found = values.insert(found, Value{text, {}});
  found->groups.push_back(group);
}

std::vector<std::pair<std::string, std::string>> Difference::by_value(
    std::span<const std::string> names) const {
  std::vector<const Value*> order;
  for (const Value& value : values) order.push_back(&value);
  std::ranges::stable_sort(order, {}, [](const Value* one) { return one->groups.size(); });
  std::size_t known = 0;  // groups with a known value
  for (const Value& value : values) known += value.groups.size();
  std::vector<std::pair<std::string, std::string>> list;
  for (const Value* value : order) {
    const std::size_t count = value->groups.size();
    list.emplace_back(value->text, value == order.back() && count > 2 && known == names.size()
                                       ? fmt::format("the other {}", count)
                                       : list_of(value->groups, names));
  }
  return list;
}

std::string Difference::text(std::span<const std::string> names) const {
  std::vector<std::string> parts;
  for (const auto& [value, groups] : by_value(names)) {
    parts.push_back(fmt::format("{} ({})", value, groups));
  }
  return fmt::format("{}: {}", what, fmt::join(parts, ", "));
}

std::vector<Difference> differences_among(std::span<const std::span<const Result>> groups) {
  const bool across = std::ranges::any_of(groups.subspan(1), [&](std::span<const Result> group) {
    return crossed_file_systems(groups.front(), group).has_value();
  });
  const std::vector<PreparedGroup> list = prepared(groups);
  std::vector<Difference> differences;
  for (const ComparedProperty& property : properties_of(groups, across)) {
    Difference difference{property.kind, property.what, {}};
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Values values = property.of(list[i]);
      if (!values.empty()) difference.add(values.text(), i);
    }
    if (difference.values.size() > 1) differences.push_back(std::move(difference));
  }
  const bool made_differently =
      across || std::ranges::any_of(differences, [&](const Difference& one) {
        return one.kind == ChangeKind::file_system && !follows_from_size(one, differences);
      });
  for (Difference& one : differences) {
    if (!made_differently && follows_from_size(one, differences)) one.kind = ChangeKind::other;
  }
  compare_use(list, made_differently, differences);
  std::ranges::stable_sort(differences, {}, &Difference::kind);
  return differences;
}

std::vector<Change> changes_between(std::span<const Result> base, std::span<const Result> fresh) {
  const std::array<std::span<const Result>, 2> sides = {base, fresh};
  std::vector<Change> changes;
  if (const auto across = crossed_file_systems(base, fresh)) {
    changes.push_back({ChangeKind::file_system, "file system", across->base, across->fresh});
  }
  for (const Difference& difference : differences_among(sides)) {
    changes.push_back(
        {difference.kind, difference.what, difference.values[0].text, difference.values[1].text});
  }
  std::ranges::stable_sort(changes, {}, &Change::kind);
  return changes;
}

}  // namespace filereel
