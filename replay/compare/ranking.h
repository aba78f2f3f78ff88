// Several groups of results, ranked in each measurement that two or more of them have.
// docs/compare.md says how; ranking_json.h writes it down.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/compare/groups.h"

namespace filereel {

// The code of the warning that so few runs cannot show any difference; its next step says how many
// could.
inline constexpr std::string_view kFewRuns = "few-runs";

struct RankedEntry {
  std::size_t group = 0;  // its place in the list
  ComparedSide side = {};
  // 1 + the number of entries that are shown to be faster; 0: not ranked, for a reason.
  std::uint32_t rank = 0;
  double ratio = 1;  // its median by that of the entry with the smallest
  std::string reason = {};
};

struct RankedMeasurement {
  MeasurementKey key;
  Figure figure = Figure::durable;
  std::vector<RankedEntry> entries = {};  // by rank, then by median; those without a rank last

  // Whether any entry is shown to be slower than another one.
  bool decided() const;
};

struct Ranking {
  std::vector<std::string> names = {};  // of the groups
  CompareOptions options;
  std::vector<RankedMeasurement> measurements = {};  // that two or more groups have
  std::vector<MeasurementKey> left_out = {};         // that one group has
  std::vector<Warning> warnings = {};
  bool complete = true;  // all results were

  // In how many measurements a group has rank 1.
  std::size_t firsts(std::size_t group) const;
};

// Each two entries of a measurement are compared as two results are, in time only; Holm's
// correction is over all pairs of all measurements, so that any order at all that chance alone
// makes has the probability `options.false_alarms`. Two groups or more.
Ranking rank_groups(std::span<const ResultGroup> groups, const CompareOptions& options = {});

}  // namespace filereel
