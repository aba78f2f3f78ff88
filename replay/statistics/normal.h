// The standard normal distribution; its quantiles are in filesets/system/random.h.
#pragma once

namespace filereel {

// The probability of a value above `z`.
double normal_tail(double z);

}  // namespace filereel
