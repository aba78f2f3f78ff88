// File sizes with a given shape whose number and sum are exact.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace filereel {

// The few huge files that a lognormal distribution does not account for (Agrawal et al. 2007).
struct ParetoTail {
  double weight = 0;        // share of the files, 0 to 1
  double k = 1;             // shape, over 0 to 10; the smaller the heavier
  std::uint64_t start = 1;  // bytes; the smallest size in the tail
  bool operator==(const ParetoTail&) const = default;
};

struct SizeDistribution {
  // Of ln(size), 0 to 10. Douceur & Bolosky 1999 measured 2.38, Agrawal et al. 2007 2.46; there is
  // no median here, since it follows from the mean that count and total ask for.
  double sigma = 2.4;
  std::optional<ParetoTail> pareto = std::nullopt;
  std::uint64_t min = 1;          // bytes
  std::uint64_t max = INT64_MAX;  // bytes, >= min
  bool operator==(const SizeDistribution&) const = default;
};

// Throws Error(unusable_input), with a text that begins with `where`, if `distribution` is out of
// its ranges or no `count` sizes in it add up to `total_bytes`.
void check_sizes(const SizeDistribution& distribution, std::uint64_t count,
                 std::uint64_t total_bytes, std::string_view where);

// `count` sizes in random order which add up to `total_bytes`: a function of the arguments alone,
// on every machine. Each quantile of the distribution is drawn once with a jitter (stratified), so
// that even a few files have the shape of many. The tail keeps its sizes as long as the body can
// make up the total; otherwise it is scaled too. Throws as check_sizes does.
std::vector<std::uint64_t> draw_sizes(const SizeDistribution& distribution, std::uint64_t count,
                                      std::uint64_t total_bytes, std::uint64_t seed);

}  // namespace filereel
