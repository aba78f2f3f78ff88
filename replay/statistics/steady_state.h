// The steady state as defined by SNIA's Solid State Storage Performance Test Specification (PTS):
// in the last five rounds, the range of the figure is at most 20 % of their mean, and the line
// fitted to them by least squares changes by at most 10 % of the mean from the first of them to the
// last. A test ends after 25 rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace filereel {

inline constexpr std::size_t kSteadyRounds = 5, kMostRounds = 25;
inline constexpr double kSteadyRange = 0.2, kSteadySlope = 0.1;  // of the mean

struct SteadyWindow {
  double range = 0, slope = 0;  // of the mean of the last five rounds

  bool is_steady() const {
    constexpr double kRounding = 1e-9;
    return range <= kSteadyRange + kRounding && slope <= kSteadySlope + kRounding;
  }
};

// Of the last five values. Nothing for fewer, and for a mean that is not positive.
std::optional<SteadyWindow> steady_window(std::span<const double> values);

}  // namespace filereel
