// Defines an index: a named group of measurements over which a geometric mean is taken. Plain data,
// from command lines and plans; replay/compare/index.h calculates it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace filereel {

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
