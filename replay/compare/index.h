// Indices: the geometric mean over a group of measurements, absolute and relative to one of the
// groups of results. docs/compare.md has the formulas; tests/integration/index_by_hand.csv
// calculates an example by hand.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/groups.h"
#include "replay/results/plan_record.h"
#include "replay/statistics/summary.h"

namespace filereel {

// The components of kStorageMetric.
struct StorageFigures {
  double mb_per_s = 0;   // 10^6 bytes per second of busy time: geometric mean of the traces
  double access_us = 0;  // mean over all reads and writes of all traces
};

// The index of one group of results. The value of an index of several units is the relative one:
// a mean of MB/s and files/s is in no unit. Intervals contain the spread between sessions, which is
// assumed to be the same for all measurements of a session; that of a relative index does not if
// the two groups took turns.
struct IndexValue {
  double value = 0;                       // in the index's unit
  std::optional<Interval> interval = {};  // 95 %; empty with too few runs
  // 100 times the geometric mean of the ratios to the reference. More is better, also for times.
  std::optional<double> relative = {};
  std::optional<Interval> relative_interval = {};
  bool took_turns = false;  // with the reference: the relative interval assumes nothing of sessions
  std::optional<StorageFigures> storage = {};
};

struct Index {
  IndexDefinition definition;
  std::string plan = {};   // that defines it; "" for a default, and for the command line
  std::size_t out_of = 0;  // all measurements, also those that the patterns exclude
  bool more_is_better = true;
  std::string unit = {};  // "MB/s"; "" if the measurements have several
  // The same as a title: "MB/s until durable" if all write (title_of), "time until durable".
  std::string rate = {};
  // A group, the first by default if the measurements have several units.
  std::optional<std::size_t> reference = {};
  std::vector<MeasurementKey> measurements = {};  // that count: all groups have them
  // Matching measurements that some group lacks or did with different work.
  std::vector<MeasurementKey> left_out = {};
  std::vector<IndexValue> values = {};  // by group; empty if no measurement counts

  // The names of the intervals, see comparison.h: one that holds for all groups.
  std::string_view interval_name() const;
  std::string_view relative_interval_name() const;
  // "of the medians of 36 of 40 measurements, 30 of them of atto". A workload is named if more than
  // half of several measurements are of it: each has the same weight.
  std::string contents() const;
  // A value of the index: "123" of a rate, "1.38 s" of a time.
  std::string text(double value) const;
  // The groups, the best first; empty if no measurement counts.
  std::vector<std::size_t> order() const;
};

// Throws Error(usage) for an unknown metric.
Index index_of(const IndexDefinition& definition, const MatchedGroups& groups,
               std::optional<std::size_t> reference = {});

// The indices that the plans of the results define. Definitions of one name that differ are told
// apart by their plans, "desktop (plan-a)", otherwise by numbers.
std::vector<Index> planned_indexes(const MatchedGroups& groups,
                                   std::optional<std::size_t> reference = {});

// The indices shown by default: those of the plans. Without any "all", the main rates; and
// "recorded programs" (kStorageMetric) if all groups have recorded traces with reads or writes.
// None of a single measurement: its own figures say more.
std::vector<Index> default_indexes(const MatchedGroups& groups,
                                   std::optional<std::size_t> reference = {});

// Reads and writes of a sample. `busy_s` is the time in which at least one is in progress. It is
// exact if only one thread works at a time, otherwise an upper bound: the time in calls of all
// threads, or the whole sample if that is less.
struct BusyTime {
  double bytes = 0, busy_s = 0, access_s = 0, accesses = 0;
};
BusyTime busy_time(const Sample& sample);

}  // namespace filereel
