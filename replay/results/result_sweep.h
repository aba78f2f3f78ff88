// The measurements of a sweep, ordered by point.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// One operation on one file system at all points of the sweep.
struct SweepCells {
  std::string set, file_system, operation;
  // By point; the last axis varies fastest. Null if the point was not measured.
  std::vector<const Measurement*> points;
};

// The product of the axes' lengths; kMostPoints + 1 if it is larger than kMostPoints.
std::uint64_t points_of(const std::vector<SweepAxis>& axes);

// The cells of a swept job, in the order of measuring. They refer to `result`.
std::vector<SweepCells> cells_of(const Result& result, const JobRecord& job);

}  // namespace filereel
