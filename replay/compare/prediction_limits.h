// What takes the time of a replayed program: its own work, or which operations.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// The name of the volume that was measured, without serial numbers if they are hidden.
std::string volume_name(const Result& result, const Measurement& measurement);

struct TimeLimit {
  std::string volume, file_system;
  // "file operations 71 % of the time, mostly fsync (92 %); the program itself and its pauses 29
  // %"; the share in brackets is that of all operations. Threads that work at the same time can
  // make the first one more than 100 %.
  std::string text;
};

// Of each measurement with samples.
std::vector<TimeLimit> time_limits(std::span<const Result> results);

}  // namespace filereel
