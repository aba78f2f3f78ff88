#include "filesets/system/random.h"

#include <array>
#include <cmath>
#include <numbers>

namespace filereel {
namespace {

std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Evaluates a polynomial with coefficients in ascending order.
template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = 0;
  for (std::size_t i = N; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

}  // namespace

std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t part) {
  return scramble(scramble(seed + 0x9e3779b97f4a7c15u) ^ (part * 0xd1b54a32d192ed03u + 1));
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  return scramble(state_);
}

double Random::uniform() {
  return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52;
}

std::uint64_t Random::below(std::uint64_t bound) {
  // The high half of the product is practically uniform for the bounds used here (< 2^40).
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < std::numbers::sqrt2 / 2) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)), and |t| <= 0.172 makes the series short.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double square = t * t;
  double sum = 0;
  for (int n = 12; n >= 0; --n) sum = sum * square + 1.0 / (2 * n + 1);
  return exponent * std::numbers::ln2 + 2 * t * sum;
}

double portable_exp(double x) {
  const double turns = std::floor(x / std::numbers::ln2 + 0.5);
  // ln 2 in two parts. The first has few enough bits for an exact product with `turns`.
  constexpr double kLn2High = 0x1.62e42fefap-1;
  constexpr double kLn2Low = 0x1.cf79abc9e3b39p-40;
  const double rest = (x - turns * kLn2High) - turns * kLn2Low;
  double sum = 1;
  for (int n = 16; n > 0; --n) sum = 1 + sum * rest / n;
  return std::ldexp(sum, static_cast<int>(turns));
}

// M. J. Wichura, Algorithm AS 241: The Percentage Points of the Normal Distribution, Applied
// Statistics 37 (1988): three rational approximations, for the middle, the near and the far tail.
double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    static constexpr std::array kNumerator = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                              1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                              4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static constexpr std::array kDenominator = {1.0,
                                                4.2313330701600911252e+1,
                                                6.8718700749205790830e+2,
                                                5.3941960214247511077e+3,
                                                2.1213794301586595867e+4,
                                                3.9307895800092710610e+4,
                                                2.8729085735721942674e+4,
                                                5.2264952788528545610e+3};
    const double r = 0.180625 - q * q;
    return q * polynomial(kNumerator, r) / polynomial(kDenominator, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  double z = 0;
  if (r <= 5) {
    static constexpr std::array kNumerator = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                              5.76949722146069140550e0,  3.64784832476320460504e0,
                                              1.27045825245236838258e0,  2.41780725177450611770e-1,
                                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static constexpr std::array kDenominator = {1.0,
                                                2.05319162663775882187e0,
                                                1.67638483018380384940e0,
                                                6.89767334985100004550e-1,
                                                1.48103976427480074590e-1,
                                                1.51986665636164571966e-2,
                                                5.47593808499534494600e-4,
                                                1.05075007164441684324e-9};
    z = polynomial(kNumerator, r - 1.6) / polynomial(kDenominator, r - 1.6);
  } else {
    static constexpr std::array kNumerator = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                              1.78482653991729133580e0,  2.96560571828504891230e-1,
                                              2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static constexpr std::array kDenominator = {1.0,
                                                5.99832206555887937690e-1,
                                                1.36929880922735805310e-1,
                                                1.48753612908506148525e-2,
                                                7.86869131145613259100e-4,
                                                1.84631831751005468180e-5,
                                                1.42151175831644588870e-7,
                                                2.04426310338993978564e-15};
    z = polynomial(kNumerator, r - 5) / polynomial(kDenominator, r - 5);
  }
  return q < 0 ? -z : z;
}

}  // namespace filereel
