#include "replay/statistics/steady_state.h"

#include <algorithm>
#include <cmath>

#include "replay/statistics/summary.h"

namespace filereel {

std::optional<SteadyWindow> steady_window(std::span<const double> values) {
  if (values.size() < kSteadyRounds) return std::nullopt;
  const std::span<const double> last = values.last(kSteadyRounds);
  const double middle = mean(last);
  if (!(middle > 0)) return std::nullopt;
  // Of rounds numbered from -2 to 2.
  constexpr double kHalf = (kSteadyRounds - 1) / 2.0;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < last.size(); ++i) {
    const double x = static_cast<double>(i) - kHalf;
    products += x * last[i];
    squares += x * x;
  }
  const auto [least, most] = std::ranges::minmax(last);
  return SteadyWindow{.range = (most - least) / middle,
                      .slope = std::abs(products / squares) * 2 * kHalf / middle};
}

}  // namespace filereel
