// Student's t distribution.
#pragma once

namespace filereel {

// The probability of a value above `t`, with `freedom` > 0 degrees of freedom.
double student_tail(double t, double freedom);

// The value with the probability `p` below it; 0 < p < 1.
double student_quantile(double p, double freedom);

}  // namespace filereel
