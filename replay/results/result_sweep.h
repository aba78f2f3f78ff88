// The measurements of a sweep in their order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// One operation on one file system at all points of the sweep.
struct SweepCells {
  std::string set, file_system, operation;
  // By point, which count through the last axis first; null where nothing was measured.
  std::vector<const Measurement*> points;
};

// The product of the axes' lengths; kMostPoints + 1 for all that are more.
std::uint64_t points_of(const std::vector<SweepAxis>& axes);

// Those of a job that was swept, in the order in which they were measured. They refer to the
// result.
std::vector<SweepCells> cells_of(const Result& result, const JobRecord& job);

}  // namespace filereel
