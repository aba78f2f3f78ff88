#include "filesets/specification/distribution.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/random.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

using Wide = unsigned __int128;  // sums of up to 2^64 sizes

struct Range {
  std::uint64_t min;
  std::uint64_t max;
};

std::uint64_t size_of(double value, Range range) {
  if (value >= static_cast<double>(range.max)) return range.max;
  return std::clamp(static_cast<std::uint64_t>(value + 0.5), range.min, range.max);
}

Wide scaled_sum(std::span<const double> values, double factor, Range range) {
  Wide sum = 0;
  for (const double value : values) sum += size_of(value * factor, range);
  return sum;
}

// The largest factor found with a sum of at most `target`.
double fit_factor(std::span<const double> values, Range range, std::uint64_t target) {
  double sum = 0;
  for (const double value : values) sum += value;
  double low = static_cast<double>(target) / sum;
  if (!(low > 0)) low = 1 / sum;
  // The number of doublings is bounded by the range of the sizes and of their quotients.
  constexpr int kMaxDoublings = 1000;
  for (int i = 0; i < kMaxDoublings && scaled_sum(values, low, range) > target; ++i) low /= 2;
  double high = low * 2;
  for (int i = 0; i < kMaxDoublings && scaled_sum(values, high, range) <= target; ++i) {
    low = high;
    high *= 2;
  }
  constexpr int kHalvings = 54;  // one for each bit of a double
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = low + (high - low) / 2;
    if (scaled_sum(values, middle, range) <= target) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// Adds `rest` bytes in equal parts to the sizes below the maximum.
void spread_rest(std::span<std::uint64_t> sizes, std::uint64_t max, std::uint64_t rest) {
  while (rest > 0) {
    const auto open = static_cast<std::uint64_t>(
        std::count_if(sizes.begin(), sizes.end(), [&](std::uint64_t s) { return s < max; }));
    if (open == 0) return;  // excluded by check_sizes
    const std::uint64_t share = rest / open;
    std::uint64_t extra = rest % open;
    for (std::uint64_t& size : sizes) {
      if (size >= max) continue;
      const std::uint64_t wanted = share + (extra > 0 ? 1 : 0);
      if (extra > 0) --extra;
      const std::uint64_t added = std::min(wanted, max - size);
      size += added;
      rest -= added;
    }
  }
}

// Appends one size per value, in proportion to the values and with exactly `target` as the sum.
// `target` is between values.size() * min and values.size() * max.
void append_fitted(std::span<const double> values, Range range, std::uint64_t target,
                   std::vector<std::uint64_t>& sizes) {
  if (values.empty()) return;
  const std::size_t first = sizes.size();
  const double factor = fit_factor(values, range, target);
  std::uint64_t sum = 0;
  for (const double value : values) {
    sizes.push_back(size_of(value * factor, range));
    sum += sizes.back();
  }
  // If no factor gives a small enough sum, all files start at the minimum size.
  if (sum > target) {
    sum = 0;
    for (std::size_t i = first; i < sizes.size(); ++i) {
      sizes[i] = range.min;
      sum += range.min;
    }
  }
  spread_rest(std::span(sizes).subspan(first), range.max, target - sum);
}

// A random point in the middle half of the i-th of `count` equal parts of (0, 1). Without the outer
// quarters, the size of the largest file in a small set varies less.
double stratum(std::size_t i, std::size_t count, Random& random) {
  const double p =
      (static_cast<double>(i) + 0.25 + 0.5 * random.uniform()) / static_cast<double>(count);
  return std::min(p, 1 - 0x1p-53);
}

}  // namespace

void check_sizes(const SizeDistribution& distribution, std::uint64_t count,
                 std::uint64_t total_bytes, std::string_view where) {
  if (!(distribution.sigma >= 0 && distribution.sigma <= 10)) {
    throw_unusable(where, "sigma must be from 0 to 10");
  }
  if (distribution.min > distribution.max) {
    throw_unusable(
        where, fmt::format("the minimum size, {}, is above the maximum, {}",
                           counted(distribution.min, "byte"), counted(distribution.max, "byte")));
  }
  if (distribution.max > INT64_MAX)
    throw_unusable(where, "the maximum size exceeds 2^63 - 1 bytes");
  if (const auto& tail = distribution.pareto) {
    if (!(tail->weight >= 0 && tail->weight <= 1)) {
      throw_unusable(where, "the weight of the Pareto tail must be from 0 to 1");
    }
    if (!(tail->k > 0 && tail->k <= 10)) {
      throw_unusable(where, "k of the Pareto tail must be above 0 and at most 10");
    }
  }
  if (Wide{count} * distribution.min > total_bytes) {
    throw_unusable(where,
                   fmt::format("{} of at least {} {} the total of {}; "
                               "reduce the count or the minimum size, or increase the total",
                               counted(count, "file"), counted(distribution.min, "byte"),
                               agreeing(count, "exceeds", "exceed"), counted(total_bytes, "byte")));
  }
  if (Wide{count} * distribution.max < total_bytes) {
    throw_unusable(where, fmt::format("{} of at most {} cannot reach the total of {}; "
                                      "increase the count or the maximum size, or reduce the total",
                                      counted(count, "file"), counted(distribution.max, "byte"),
                                      counted(total_bytes, "byte")));
  }
}

std::vector<std::uint64_t> draw_sizes(const SizeDistribution& distribution, std::uint64_t count,
                                      std::uint64_t total_bytes, std::uint64_t seed) {
  check_sizes(distribution, count, total_bytes, "file sizes");
  const Range range{distribution.min, distribution.max};
  const auto files = static_cast<std::size_t>(count);
  Random random(seed);

  std::vector<double> tail;
  if (distribution.pareto) {
    const ParetoTail& pareto = *distribution.pareto;
    tail.resize(static_cast<std::size_t>(pareto.weight * static_cast<double>(files) + 0.5));
    for (std::size_t i = 0; i < tail.size(); ++i) {
      const double p = stratum(i, tail.size(), random);
      // The exponent is limited so that a tiny k does not exceed the range of a double.
      const double exponent = std::min(-portable_log(1 - p) / pareto.k, 100.0);
      tail[i] = std::max(1.0, static_cast<double>(pareto.start)) * portable_exp(exponent);
    }
  }
  std::vector<double> body(files - tail.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    body[i] = portable_exp(distribution.sigma * normal_quantile(stratum(i, body.size(), random)));
  }

  // The body gets what the unscaled tail leaves. If that is out of the body's range, the body gets
  // the nearest limit and the tail makes up the difference.
  const Wide tail_sum = scaled_sum(tail, 1, range);
  const Wide body_min = Wide{body.size()} * range.min;
  const Wide body_max = Wide{body.size()} * range.max;
  const Wide wanted = tail_sum > total_bytes ? Wide{0} : Wide{total_bytes} - tail_sum;
  const auto body_total = static_cast<std::uint64_t>(std::clamp(wanted, body_min, body_max));

  std::vector<std::uint64_t> sizes;
  sizes.reserve(files);
  append_fitted(body, range, body_total, sizes);
  append_fitted(tail, range, total_bytes - body_total, sizes);
  random.shuffle(sizes);
  return sizes;
}

}  // namespace filereel
