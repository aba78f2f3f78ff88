#include "replay/statistics/normal.h"

#include <cmath>
#include <numbers>

namespace filereel {

double normal_tail(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

}  // namespace filereel
