// What takes the time of a replayed program: its own work, or which operations.
#pragma once

#include <string>
#include <vector>

#include "replay/compare/prediction_json.h"

namespace filereel {

// The name of the volume that was measured, without serial numbers if they are hidden.
std::string volume_name(const Result& result, const Measurement& measurement);

struct TimeLimit {
  std::string volume, file_system;
  // Of one thread: "file operations 71 % of the time, mostly fsync (92 %); the program itself and
  // its pauses 29 %". Threads work at the same time, so of several it is "2.9 file operations in
  // progress on average, mostly fsync (92 %)"; below one, also the share of time without any. The
  // share in brackets is that in the time of all operations.
  std::string text;
};

// Of each measurement with samples, in the order of the predicted times.
std::vector<TimeLimit> time_limits(const StoredPrediction& stored);

}  // namespace filereel
