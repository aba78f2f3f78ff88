// What a plan and its jobs do, as results record it. Plain data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// What a job does, in words, for pages and comparisons. Plain data.
struct WorkRecord {
  static constexpr std::size_t kMostLines = 60, kMostBytes = 4096;  // of `does`

  std::string job;               // JobRecord::name
  std::string set = {};          // of FC-Test
  std::string file = {};         // that defines it, without folders; "": from the catalogue
  std::string description = {};  // by its author
  // Files, phases and threads, a line each, at the first point of a sweep. Longer texts are cut.
  std::vector<std::string> does = {};

  // Adds lines up to the limits, and says how many are left out.
  void add(const std::vector<std::string>& lines);

  bool operator==(const WorkRecord&) const = default;
};

// --- Defines an index: a named group of measurements over which a geometric mean is taken. Plain
// data, from command lines and plans; replay/compare/index.h calculates it.

// The metric that combines data rate and access time of recorded programs during busy time.
inline constexpr std::string_view kStorageMetric = "storage";

struct IndexDefinition {
  std::string name;
  // Shell patterns (fnmatch). A measurement belongs to the group if one of them matches its
  // workload, "workload operation", "workload set operation" or its whole key. Empty: all
  // measurements belong.
  std::vector<std::string> patterns = {};
  // Metric::name or kStorageMetric; "" is the main rate: MB/s, otherwise files/s, otherwise
  // operations/s.
  std::string metric = {};

  bool operator==(const IndexDefinition&) const = default;
};

}  // namespace filereel
