// Groups of results that are pooled under one name: by drive, by file system, or both.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/matching.h"
#include "replay/compare/work.h"
#include "replay/results/result.h"

namespace filereel {

struct ResultGroup {
  std::string name;
  std::vector<Result> results;          // one or more
  std::vector<std::string> files = {};  // of the results, as on the command line
};

// name_alike (replay/results/work_names.h) of the results of all groups, in their order.
void name_alike(std::span<ResultGroup> groups);

// Splits groups by file system, in their order; only `file_systems` if any are given. A part is
// named after the group, followed by the file system if the group has several; or after the file
// system if there is only one group.
std::vector<ResultGroup> by_file_system(std::span<const ResultGroup> groups,
                                        std::span<const std::string> file_systems);

// Whether they are compared on each file system: three or more groups, all with a file system that
// another one has, too, and several such file systems. Otherwise each file system of a group is an
// entry of its own.
bool share_file_systems(std::span<const ResultGroup> groups);

// One measurement of several groups: their samples, null if a group lacks it.
struct MatchedMeasurement {
  MeasurementKey key;
  std::vector<const PooledMeasurement*> of;  // by group
};

// Matches the measurements of several groups. Matches across file systems if each group has a
// single one and they differ.
class MatchedGroups {
 public:
  // `groups` must outlive this object.
  explicit MatchedGroups(std::span<const ResultGroup> groups);
  MatchedGroups(const MatchedGroups&) = delete;
  MatchedGroups& operator=(const MatchedGroups&) = delete;

  std::size_t groups() const { return gathered_.size(); }
  std::span<const ResultGroup> list() const { return list_; }
  bool across() const { return across_; }  // across file systems
  std::vector<Warning> warnings() const;   // of what is left out of groups
  bool leaves_out_results() const { return matching_.leaves_out_results(); }
  std::vector<ResultGroup> used() const;  // without results that are left out
  // In the order of their first occurrence.
  std::span<const MatchedMeasurement> measurements() const { return measurements_; }

 private:
  std::span<const ResultGroup> list_;
  bool across_ = false;
  Matching matching_;
  std::vector<std::vector<PooledMeasurement>> gathered_;
  std::vector<MatchedMeasurement> measurements_;
};

}  // namespace filereel
