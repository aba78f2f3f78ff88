// One figure for many measurements: geometric means over a group of them, as they are and relative
// to one of the groups of results. docs/compare.md has the formulas;
// tests/integration/index_by_hand.csv calculates an example by hand.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/groups.h"
#include "replay/results/index_definition.h"
#include "replay/statistics/interval.h"

namespace filereel {

// What kStorageMetric is made of.
struct StorageFigures {
  double mb_per_s = 0;   // 10^6 bytes a second of busy time: the geometric mean of the traces
  double access_us = 0;  // of the mean read or write of all traces
};

// Of one group of results.
struct IndexValue {
  double value = 0;                       // in the index's unit
  std::optional<Interval> interval = {};  // 95 %; nothing for too few runs
  // 100 times the geometric mean of the ratios to the reference; more is better, also of times.
  std::optional<double> relative = {};
  std::optional<Interval> relative_interval = {};
  std::optional<StorageFigures> storage = {};
};

struct Index {
  IndexDefinition definition;
  // "MB/s"; several joined with ", " where the measurements have not all the same.
  std::string unit = {};
  std::optional<std::size_t> reference = {};      // a group
  std::vector<MeasurementKey> measurements = {};  // that all groups have: these count
  // That match and some group has no figure of, or has done other work.
  std::vector<MeasurementKey> left_out = {};
  std::vector<IndexValue> values = {};  // by group; none where no measurement counts
};

// Throws Error(usage) for a metric that there is not.
Index index_of(const IndexDefinition& definition, const MatchedGroups& groups,
               std::optional<std::size_t> reference = {});

// What is shown where no index is named: "all", the main rates; and if all groups have recorded
// traces with reads or writes, "recorded programs", kStorageMetric.
std::vector<Index> usual_indexes(const MatchedGroups& groups,
                                 std::optional<std::size_t> reference = {});

// Reads and writes of a sample. `busy_s` is the time in which at least one is under way, exactly so
// where one thread works at a time, else an upper bound: the time in calls of all threads, or all
// of the sample if that is less.
struct BusyTime {
  double bytes = 0, busy_s = 0, access_s = 0, accesses = 0;
};
BusyTime busy_time(const Sample& sample);

}  // namespace filereel
