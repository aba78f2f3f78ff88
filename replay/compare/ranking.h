// Ranks several groups of results in each measurement that at least two of them have.
// docs/compare.md describes the method; comparison_formats.h writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/changes.h"
#include "replay/compare/comparison.h"
#include "replay/compare/groups.h"

namespace filereel {

// The code of the warning for too few runs for a ranking. Its next step gives the required number.
inline constexpr std::string_view kFewRuns = "few-runs";

struct RankedEntry {
  std::size_t group = 0;  // index in the list
  ComparedSide side = {};
  bool comparable = true;  // it has runs, of the same work as the others
  // The groups shown to be faster, and those of which it is indicated.
  std::vector<std::size_t> faster = {}, indicated = {};
  // Ranks that it may have: from 1 + the number of groups shown to be faster, to the number of
  // ranked groups less those shown to be slower. 0: none, see `reason` and has_ranks. If all are
  // the same within the threshold, all have rank 1.
  std::uint32_t rank = 0, last_rank = 0;
  double ratio = 1;  // its median relative to the smallest one
  std::string reason = {};
};

struct RankedMeasurement {
  MeasurementKey key;
  Figure figure = Figure::durable;
  std::vector<RankedEntry> entries = {};  // by rank, then by median; unranked ones last
  bool same = false;                      // no two entries differ by more than the threshold
  // Runs of each entry, estimated to decide what is indicated; empty if no number would.
  std::optional<std::uint32_t> runs_needed = {};

  // Whether two entries have runs of the same work.
  bool comparable() const;
  // Whether any entry is shown to be slower than another.
  bool decided() const;
  // Without a proven order, there is none: "not shown to differ" is no rank.
  bool has_ranks() const { return decided() || same; }
  // Whether anything is indicated.
  bool indicates() const;
  // The entry that is shown to be faster than all others; null if there is none.
  const RankedEntry* fastest() const;
};

struct Ranking {
  std::vector<std::string> names = {};  // of the groups
  CompareOptions options;
  std::vector<RankedMeasurement> measurements = {};  // of at least two groups
  std::vector<MeasurementKey> left_out = {};         // of only one group
  std::vector<Difference> differences = {};          // between the groups, besides their figures
  std::vector<Warning> warnings = {};
  // Measurements without ranks for want of runs, and because sessions may differ as much.
  std::size_t need_runs = 0, need_sessions = 0;
  bool complete = true;    // all results are complete
  std::string level = {};  // that the order holds for, see level_text; "" if nothing was tested

  // Number of measurements in which a group is the fastest.
  std::size_t firsts(std::size_t group) const;
  // Whether two entries have runs of the same work in any measurement.
  bool comparable() const;
};

// "2", or "1-3" if the order is not proven; "-" without a rank (`first` is 0).
std::string rank_text(std::uint32_t first, std::uint32_t last);

// Compares each pair of entries of a measurement like two results, but only in time. Holm's
// correction covers all pairs of all measurements, so `options.false_alarms` is the probability
// that chance alone produces any order. Needs at least two groups.
Ranking rank_groups(std::span<const ResultGroup> groups, const CompareOptions& options = {});

}  // namespace filereel
