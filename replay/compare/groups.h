// Results under one name, which are pooled: of a drive, of a file system, or both.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/work.h"
#include "replay/results/result.h"

namespace filereel {

struct ResultGroup {
  std::string name;
  std::vector<Result> results;          // one or more
  std::vector<std::string> files = {};  // that they came from, as on the command line
};

// One group for each file system of each group, in their order; of `file_systems` only, if any are
// named. Called like the group, with the file system where there is more than one; like the file
// system where there is one group only.
std::vector<ResultGroup> by_file_system(std::span<const ResultGroup> groups,
                                        std::span<const std::string> file_systems);

// One measurement of several groups: their samples, null where a group has not measured it.
struct MatchedMeasurement {
  MeasurementKey key;
  std::vector<const Gathered*> of;  // by group
};

// The measurements of several groups, matched. Across file systems where each group has a single
// one and they differ.
class MatchedGroups {
 public:
  // `groups` outlives it.
  explicit MatchedGroups(std::span<const ResultGroup> groups);
  MatchedGroups(const MatchedGroups&) = delete;
  MatchedGroups& operator=(const MatchedGroups&) = delete;

  std::size_t groups() const { return gathered_.size(); }
  // In the order of their first appearance.
  std::span<const MatchedMeasurement> measurements() const { return measurements_; }

 private:
  std::vector<std::vector<Gathered>> gathered_;
  std::vector<MatchedMeasurement> measurements_;
};

}  // namespace filereel
