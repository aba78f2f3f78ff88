// A range in which a figure lies, with the confidence that its maker states.
#pragma once

namespace filereel {

struct Interval {
  double low = 0, high = 0;
};

}  // namespace filereel
