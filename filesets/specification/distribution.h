// File sizes of a given distribution with an exact count and sum.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace filereel {

// The few huge files not covered by a lognormal distribution (Agrawal et al. 2007).
struct ParetoTail {
  double weight = 0;        // share of the files, 0 to 1
  double k = 1;             // shape, above 0 to 10; smaller is heavier
  std::uint64_t start = 1;  // bytes; smallest size in the tail
  bool operator==(const ParetoTail&) const = default;
};

struct SizeDistribution {
  // Standard deviation of ln(size), 0 to 10. Douceur & Bolosky 1999 measured 2.38, Agrawal et al.
  // 2007 2.46. There is no median parameter: it follows from the mean, total divided by count.
  double sigma = 2.4;
  std::optional<ParetoTail> pareto = std::nullopt;
  std::uint64_t min = 1;          // bytes
  std::uint64_t max = INT64_MAX;  // bytes, >= min
  bool operator==(const SizeDistribution&) const = default;
};

// Throws Error(unusable_input) with a text that starts with `where` if `distribution` is out of
// range, or no `count` sizes within it add up to `total_bytes`.
void check_sizes(const SizeDistribution& distribution, std::uint64_t count,
                 std::uint64_t total_bytes, std::string_view where);

// Returns `count` sizes in random order that add up to `total_bytes`. The result depends on the
// arguments only, on every machine. Sampling is stratified: each quantile is drawn once with a
// jitter, so that even a few files have the shape of many. The tail keeps its sizes if the body can
// make up the total; otherwise the tail is scaled, too. Throws like check_sizes.
std::vector<std::uint64_t> draw_sizes(const SizeDistribution& distribution, std::uint64_t count,
                                      std::uint64_t total_bytes, std::uint64_t seed);

}  // namespace filereel
