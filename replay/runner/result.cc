#include "replay/runner/result.h"

#include <algorithm>
#include <functional>

namespace filereel {
namespace {

std::optional<Spread> spread_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return Spread{median, values.front(), values.back()};
}

std::optional<Spread> rate(const std::vector<Sample>& samples, std::uint64_t Sample::* amount,
                           double Sample::* seconds, double unit) {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    const bool data = amount == &Sample::bytes;
    // A replay that went its own way has figures all the same, and says what differed.
    const bool failed = sample.reel ? sample.reel->ended_early : sample.divergences > 0;
    if (failed || sample.*seconds <= 0 || (data && sample.moved_no_data)) continue;
    if (sample.*amount > 0)
      values.push_back(static_cast<double>(sample.*amount) / unit / sample.*seconds);
  }
  return spread_of(std::move(values));
}

}  // namespace

Summary Measurement::summary() const {
  constexpr double kMega = 1e6;
  return {rate(samples, &Sample::bytes, &Sample::durable_s, kMega),
          rate(samples, &Sample::bytes, &Sample::elapsed_s, kMega),
          rate(samples, &Sample::files, &Sample::durable_s, 1),
          reel ? rate(samples, &Sample::operations, &Sample::elapsed_s, 1) : std::nullopt};
}

void Result::warn(Warning warning) {
  const auto same = [&](const Warning& other) {
    return other.code == warning.code && other.text == warning.text;
  };
  if (std::ranges::none_of(warnings, same)) warnings.push_back(std::move(warning));
}

}  // namespace filereel
