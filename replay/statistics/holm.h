// Correction for multiple tests.
#pragma once

#include <span>
#include <vector>

namespace filereel {

// Adjusts probabilities so that, among all that are at most a given level, even one false positive
// occurs only with that probability, for any dependence between the tests. This is the weighted
// procedure of S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979), section
// 4. Each test gets a part of the level in proportion to its weight, and passes it on to the others
// once it is rejected. In the order of `p`, 0 to 1; needs as many weights, above 0.
std::vector<double> holm_adjusted(std::span<const double> p, std::span<const double> weights);

}  // namespace filereel
