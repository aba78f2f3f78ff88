#include "replay/statistics/levels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "replay/statistics/significance.h"

namespace filereel {
namespace {

constexpr std::size_t kLeastValues = 2;     // of a level
constexpr std::size_t kPartsForDrift = 10;  // of its values

// Sums for the mean and the squared deviations of any part in constant time.
class Sums {
 public:
  explicit Sums(std::span<const double> series) : sums_(1), squares_(1) {
    // Relative to the mean, or the squares of large values would lose the deviations.
    center_ = series.empty() ? 0 : filereel::mean(series);
    for (const double value : series) {
      sums_.push_back(sums_.back() + value - center_);
      squares_.push_back(squares_.back() + (value - center_) * (value - center_));
    }
  }

  double mean(std::size_t begin, std::size_t end) const {
    return center_ + (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
  }
  // The sum of the squared deviations from the mean.
  double cost(std::size_t begin, std::size_t end) const {
    const double sum = sums_[end] - sums_[begin];
    return squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin);
  }

 private:
  double center_;
  std::vector<double> sums_, squares_;  // of the values before each position
};

double spread_around_levels(std::span<const double> series) {
  constexpr std::size_t kApart = 4;
  constexpr double kNormal = 1.4826;  // the standard deviation of normal values, in MADs
  std::vector<double> differences;
  for (std::size_t i = kApart; i < series.size(); ++i) {
    differences.push_back(std::abs(series[i] - series[i - kApart]));
  }
  if (differences.empty()) return 0;
  return kNormal * median(differences) / std::sqrt(2);
}

// The ends of the parts, in order; the last one is that of the series.
std::vector<std::size_t> pelt(const Sums& sums, std::size_t size, double penalty) {
  std::vector<double> least(size + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of_last(size + 1, 0);
  least[0] = -penalty;
  std::vector<std::size_t> candidates;
  for (std::size_t end = kLeastValues; end <= size; ++end) {
    candidates.push_back(end - kLeastValues);
    for (const std::size_t begin : candidates) {
      const double cost = least[begin] + sums.cost(begin, end) + penalty;
      if (cost >= least[end]) continue;
      least[end] = cost;
      begin_of_last[end] = begin;
    }
    // From where a change at `change` is possible, a begin that is worse than this change by the
    // penalty is never the best one.
    const std::size_t change = end - 1;
    std::erase_if(candidates, [&](std::size_t begin) {
      return begin + kLeastValues <= change &&
             least[begin] + sums.cost(begin, change) > least[change];
    });
  }
  std::vector<std::size_t> ends;
  for (std::size_t end = size; end > 0; end = begin_of_last[end]) ends.push_back(end);
  std::ranges::reverse(ends);
  return ends;
}

double difference(double a, double b) {
  const double larger = std::max(a, b);
  return larger > 0 ? std::abs(a - b) / larger : 0;
}

// The parts between the change points, and what makes several of them one level.
class Parts {
 public:
  Parts(const Sums& sums, std::vector<std::size_t> ends) : sums_(sums), ends_(std::move(ends)) {}

  std::size_t size() const { return ends_.size(); }
  std::size_t begin(std::size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }
  std::size_t end(std::size_t part) const { return ends_[part]; }
  double mean(std::size_t part) const { return sums_.mean(begin(part), end(part)); }
  std::size_t length(std::size_t part) const { return end(part) - begin(part); }

  // Joins the two parts with the smallest difference, while it is small.
  void join_similar() {
    while (size() > 1) {
      std::size_t closest = 0;
      for (std::size_t i = 1; i + 1 < size(); ++i) {
        if (after(i) < after(closest)) closest = i;
      }
      if (after(closest) >= kLeastChange) return;
      join_with_next(closest);
    }
  }

  // Joins the shortest part that is too short with its more similar neighbour, while there is one.
  void join_short(std::size_t shortest) {
    while (size() > 1) {
      const std::size_t first = mean(0) > mean(1) ? 1 : 0;  // a short fast begin may be a level
      std::size_t least = first;
      for (std::size_t i = first; i < size(); ++i) {
        if (length(i) < length(least)) least = i;
      }
      if (length(least) >= shortest) return;
      const bool has_last = least > 0, has_next = least + 1 < size();
      const bool with_next = has_next && (!has_last || after(least) < after(least - 1));
      join_with_next(with_next ? least : least - 1);
      join_similar();
    }
  }

  void join_drifts() {
    for (std::size_t i = 0; i + 1 < size();) {
      if (is_sudden(i)) {
        ++i;
      } else {
        join_with_next(i);
        i = 0;  // the means before have changed
      }
    }
  }

 private:
  double after(std::size_t part) const { return difference(mean(part), mean(part + 1)); }

  // Whether most of the change to the next part happens near the change point.
  bool is_sudden(std::size_t part) const {
    constexpr std::size_t kMostNear = 10;
    const std::size_t near = std::clamp<std::size_t>(std::min(length(part), length(part + 1)) / 4,
                                                     kLeastValues, kMostNear);
    const std::size_t point = end(part);
    const double here = sums_.mean(point - near, point) - sums_.mean(point, point + near);
    return std::abs(here) >= std::abs(mean(part) - mean(part + 1)) / 2;
  }

  void join_with_next(std::size_t part) {
    ends_.erase(ends_.begin() + static_cast<std::ptrdiff_t>(part));
  }

  const Sums& sums_;
  std::vector<std::size_t> ends_;
};

// Without the values next to a change, if there are enough.
std::span<const double> without_edges(std::span<const double> series, const Level& level) {
  const std::span<const double> values = series.subspan(level.begin, level.end - level.begin);
  const bool begins = level.begin > 0, ends = level.end < series.size();
  if (values.size() < 2 || (values.size() < 3 && begins && ends)) return values;
  const std::size_t edge = std::clamp<std::size_t>(values.size() / 4, 1, 2);
  const std::size_t begin = begins ? edge : 0;
  return values.subspan(begin, values.size() - begin - (ends ? edge : 0));
}

}  // namespace

bool Level::drifts() const {
  return difference(first, last) >= kLeastChange;
}

Interval interval_of_mean(std::span<const double> values) {
  constexpr std::size_t kBatches = 10;
  constexpr double kConfidence = 0.975;  // one-sided, of 95 %
  const double middle = mean(values);
  if (values.size() < 2) return {middle, middle};
  std::vector<double> batches(values.begin(), values.end());
  if (values.size() >= 2 * kBatches) {
    batches.clear();
    for (std::size_t i = 0; i < kBatches; ++i) {
      const std::size_t begin = values.size() * i / kBatches,
                        end = values.size() * (i + 1) / kBatches;
      batches.push_back(mean(values.subspan(begin, end - begin)));
    }
  }
  const auto count = static_cast<double>(batches.size());
  const double half =
      student_quantile(kConfidence, count - 1) * std::sqrt(variance(batches) / count);
  return {std::max(0.0, middle - half), middle + half};
}

std::vector<Level> levels_of(std::span<const double> series, std::size_t shortest) {
  if (series.empty()) return {};
  const Sums sums(series);
  constexpr double kPenalty = 3, kLeastSpread = 0.005;  // of the mean
  const double spread = std::max(spread_around_levels(series), kLeastSpread * mean(series));
  const double penalty = kPenalty * spread * spread * std::log(static_cast<double>(series.size()));
  const bool divides = series.size() >= 2 * kLeastValues && penalty > 0;
  Parts parts(
      sums, divides ? pelt(sums, series.size(), penalty) : std::vector<std::size_t>{series.size()});
  parts.join_similar();
  parts.join_short(shortest);
  parts.join_drifts();
  parts.join_similar();
  std::vector<Level> levels;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Level& level = levels.emplace_back(Level{parts.begin(i), parts.end(i)});
    const std::span<const double> values = without_edges(series, level);
    level.mean = mean(values);
    level.interval = interval_of_mean(values);
    const std::size_t few =
        values.size() < kLeastForDrift ? values.size() : values.size() / kPartsForDrift;
    level.first = mean(values.first(few));
    level.last = mean(values.last(few));
  }
  return levels;
}

}  // namespace filereel
