#include "replay/statistics/student.h"

#include <boost/math/distributions/students_t.hpp>

namespace filereel {

double student_tail(double t, double freedom) {
  const boost::math::students_t_distribution<double> law(freedom);
  return boost::math::cdf(boost::math::complement(law, t));
}

double student_quantile(double p, double freedom) {
  const boost::math::students_t_distribution<double> law(freedom);
  return boost::math::quantile(law, p);
}

}  // namespace filereel
