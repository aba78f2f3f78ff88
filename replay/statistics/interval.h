// A confidence interval; the function that returns it states the confidence.
#pragma once

namespace filereel {

struct Interval {
  double low = 0, high = 0;
};

}  // namespace filereel
