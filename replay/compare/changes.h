// Lists what differs between groups of results besides their figures.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/compare/comparison.h"

namespace filereel {

// A property of which the groups have different values.
struct Difference {
  struct Value {
    std::string text;                 // several values of a group are joined (Values::text)
    std::vector<std::size_t> groups;  // indices
  };

  ChangeKind kind = ChangeKind::other;
  std::string what;           // "kernel", "mount options of ext4 (near)"
  std::vector<Value> values;  // by the first group that has it; unknown values are left out

  void add(const std::string& text, std::size_t group);
  // Each value with the groups that have it, as texts, the rarest first: {"off", "B"}, {"on", "the
  // other 3"}.
  std::vector<std::pair<std::string, std::string>> by_value(
      std::span<const std::string> names) const;
  // "reflink of xfs (near): off (B), on (A, C)".
  std::string text(std::span<const std::string> names) const;
};

// Firmware first, then the file system and the drives.
std::vector<Difference> differences_among(std::span<const std::span<const Result>> groups);

// Firmware first, then the file system and the drives. Unknown values in one of the groups do not
// count as changes.
std::vector<Change> changes_between(std::span<const Result> base, std::span<const Result> fresh);

}  // namespace filereel
