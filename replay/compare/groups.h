// Matches the measurements of several results, and groups results of one kind.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/compared_figures.h"
#include "replay/compare/comparison.h"
#include "replay/results/result.h"

namespace filereel {

// --- Which measurements of several groups of results did the same work.
//
// The problem. A group has several results, such as all of a firmware. One of them may be at
// another scale, of a changed workload, or with warm caches. Pooled with it, the others have no
// comparison.
//
// The answer. Of each measurement, the kinds of work that all groups have in common are compared,
// each for itself. What else a group has of it is left out and named. Only the work must be equal
// if no settings are in common: a comparison of warm with cold caches may be what is asked for.
// Where nothing is in common, nothing is left out, and the comparison says what differs.

// What a measurement did, by name: "scale", "caches" …
struct WorkDone {
  Parameters work;      // must be equal to be compared; without what is unknown
  Parameters settings;  // how it was done
};

WorkDone work_done(const Result& result, const Measurement& measurement);

// Whether all that both know is equal.
bool fit(const Parameters& one, const Parameters& other);

class Matching {
 public:
  // The results must outlive this object. With `across`, keys leave out the file system.
  Matching(std::span<const std::span<const Result>> groups, bool across);

  // The key that a measurement is compared under, with what tells kinds of work apart if there are
  // several; nothing if it is left out. `group`: its number; nothing for results of no group.
  std::optional<MeasurementKey> find_key(const Result& result, const Measurement& measurement,
                                         std::optional<std::size_t> group) const;

  // The results of a group without those that are left out with all their measurements.
  std::vector<Result> used(std::size_t group) const;
  bool leaves_out_results() const;

  // What is left out, and why. `names`: of the groups, in a sentence.
  std::vector<Warning> warnings(std::span<const std::string> names) const;

 private:
  struct Kind {
    WorkDone done;
    std::set<std::size_t> groups = {};
  };
  // For measurements of which not all are compared, or not all together.
  struct Rule {
    bool by_settings = true;
    std::vector<Kind> kept = {};               // one or more
    std::vector<Parameters> distinction = {};  // of each kind, in its key
    std::set<std::size_t> groups = {};         // that have any of the kinds
  };
  struct LeftOut {
    std::size_t group = 0;
    const Result* result = nullptr;
    std::string why;
    std::size_t measurements = 0;
  };
  struct Occurrence;

  static bool is_same(const WorkDone& own, const WorkDone& other, bool by_settings);
  static std::optional<Rule> rule_for(std::span<const Occurrence> all, bool by_settings);
  static std::vector<Parameters> distinctions(std::span<const Kind> kinds, bool by_settings);
  void choose(const MeasurementKey& key, std::span<const Occurrence> all);
  void leave_out(const Occurrence& occurrence, const Kind& kept);
  bool is_unused(std::size_t group, const Result& result) const;
  MeasurementKey plain_key(const Measurement& measurement) const;

  std::vector<std::span<const Result>> groups_;
  bool across_ = false;
  std::map<MeasurementKey, Rule> rules_;
  std::vector<LeftOut> left_out_;
};

// --- Groups of results that are pooled under one name: by drive, by file system, or both.

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
