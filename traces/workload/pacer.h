// Due times of the accesses, or files, of a workload's thread.
#pragma once

#include <cstdint>

#include "traces/operation_makers.h"
#include "traces/workload/recipe.h"

namespace filereel {

class Pacer {
 public:
  explicit Pacer(const RecipeThreads& threads)
      : think_ns_(threads.think_ns), interval_ns_(threads.rate > 0 ? 1e9 / threads.rate : 0) {}

  bool paces() const { return think_ns_ > 0 || interval_ns_ > 0; }

  // The pause before access `number` of its thread, from 0.
  Operation next(std::uint64_t number) const {
    Operation pace;
    pace.kind = OperationKind::pace;
    if (interval_ns_ > 0) {
      pace.flags = pace_flags::kFromStart;
      pace.offset = static_cast<std::uint64_t>(static_cast<double>(number) * interval_ns_);
    } else {
      pace.flags = pace_flags::kFromLastEnd;
      pace.offset = number > 0 ? think_ns_ : 0;
    }
    return pace;
  }

 private:
  std::uint64_t think_ns_;
  double interval_ns_;
};

}  // namespace filereel
