// Many tests at once.
#pragma once

#include <span>
#include <vector>

namespace filereel {

// Probabilities corrected so that, of all that are at most some level, even one is wrong only with
// that probability, whatever the tests have to do with each other: S. Holm, "A Simple Sequentially
// Rejective Multiple Test Procedure" (1979). In the order of `p`, 0 to 1.
std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace filereel
