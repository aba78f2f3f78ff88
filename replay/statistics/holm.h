// Many tests at once.
#pragma once

#include <span>
#include <vector>

namespace filereel {

// Probabilities corrected so that, of all that are at most some level, even one is wrong only with
// that probability, whatever the tests have to do with each other: the procedure with weights of S.
// Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979), section 4. A test gets a
// part of the level in proportion to its weight, and leaves it to the others when it is decided. In
// the order of `p`, 0 to 1; as many weights, above 0.
std::vector<double> holm_adjusted(std::span<const double> p, std::span<const double> weights);

}  // namespace filereel
