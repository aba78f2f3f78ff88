// Random numbers and related functions with identical results for every compiler and standard
// library, so that a specification and a seed always give the same file set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace filereel {

// Hashes two numbers into one: seeds for the parts of a whole.
std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t part);

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  double uniform();                          // above 0 and below 1
  std::uint64_t below(std::uint64_t bound);  // 0 to bound - 1; `bound` > 0

  // Fisher-Yates shuffle.
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(i))]);
    }
  }

 private:
  std::uint64_t state_;
};

// Accurate to about 1e-15. Uses only basic IEEE operations, because log and exp of libm may differ
// in the last bit between C libraries. The logarithm needs `x` > 0, the exponential function |x| <=
// 600.
double portable_log(double x);
double portable_exp(double x);

// Returns z with P(Z <= z) = p for a standard normal Z; 0 < p < 1. Relative error about 1e-15.
double normal_quantile(double p);

}  // namespace filereel
