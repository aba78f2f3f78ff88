// Random numbers and the mathematics around them that come out the same with every compiler and
// standard library, so that a specification and a seed always mean the same file set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace filereel {

// Mixes two numbers into one that looks random: seeds for parts of a whole.
std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t part);

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  double uniform();                          // above 0 and below 1
  std::uint64_t below(std::uint64_t bound);  // 0 to bound - 1; `bound` > 0

  // Fisher and Yates.
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(i))]);
    }
  }

 private:
  std::uint64_t state_;
};

// Correct to about 1e-15, from IEEE basic operations only: libm's log and exp may differ in the
// last bit from one C library to the next. `x` > 0 for the logarithm; the exponential function
// takes |x| <= 600.
double portable_log(double x);
double portable_exp(double x);

// The z with P(Z <= z) = p for a standard normal Z; 0 < p < 1. Relative error about 1e-15.
double normal_quantile(double p);

}  // namespace filereel
