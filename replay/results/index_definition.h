// What a geometric mean is taken over: a group of measurements under a name. Plain data, of command
// lines and of plans; replay/compare/index.h calculates it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// The metric that stands for data rate and access time of recorded programs in busy time.
inline constexpr std::string_view kStorageMetric = "storage";

struct IndexDefinition {
  std::string name;
  // Of shells (fnmatch): a measurement belongs to the group if one of them matches its workload,
  // "workload operation", "workload set operation" or its whole key. All belong where there is
  // none.
  std::vector<std::string> patterns = {};
  // Metric::name, or kStorageMetric; "" is the main rate: MB/s until durable, else files/s, else
  // operations/s.
  std::string metric = {};

  bool operator==(const IndexDefinition&) const = default;
};

}  // namespace filereel
