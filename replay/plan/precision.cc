#include "replay/plan/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/results/latency.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

std::string read_part(std::string_view part, AutoRuns& automatic) {
  const std::size_t equals = part.find('=');
  const std::string_view value = equals == part.npos ? part : part.substr(equals + 1);
  const std::optional<double> share = parse_percentage(value);
  if (!share || !(*share > 0) || *share > 1) {
    return "must be a percentage such as 3%, at most 100%";
  }
  if (equals == part.npos) {
    automatic.width = *share;
    return "";
  }
  const std::string_view name = part.substr(0, equals);
  const Percentile* const tail = find_or_null(kNamedPercentiles, name, &Percentile::name);
  if (!tail) {
    return fmt::format("'{}' is not a percentile: use p50, p90, p95, p99, p99.9, p99.99",
                       printable(name));
  }
  automatic.tail = {tail->percent, *share};
  return "";
}

// The one of a summary's rates that counts: see main_rates.
const std::optional<Spread>& rate_of(const Summary& rates) {
  return rates.mb_per_s      ? rates.mb_per_s
         : rates.files_per_s ? rates.files_per_s
                             : rates.operations_per_s;
}

double width_of(const Spread& spread) {
  if (!spread.interval || spread.median <= 0) return std::numeric_limits<double>::infinity();
  return (spread.interval->high - spread.interval->low) / spread.median;
}

// The widest of the kinds that have enough operations in a typical run; 0 if there is none.
double tail_width(const Measurement& measurement, const TailPrecision& wanted) {
  if (measurement.samples.empty()) return std::numeric_limits<double>::infinity();
  const auto* tail = std::ranges::find(kNamedPercentiles, wanted.percentile, &Percentile::percent);
  double widest = 0;
  for (const auto& [kind, latency] : measurement.samples.front().latency) {
    if (!is_supported(*tail, measurement.median_count(kind))) continue;
    const auto spread = measurement.latency(kind, tail->figure);
    if (spread) widest = std::max(widest, width_of(*spread));
  }
  return widest;
}

}  // namespace

std::string read_precision(std::string_view text, AutoRuns& automatic) {
  for (;;) {
    const std::size_t comma = text.find(',');
    if (std::string wrong = read_part(text.substr(0, comma), automatic); !wrong.empty()) {
      return wrong;
    }
    if (comma == text.npos) return "";
    text.remove_prefix(comma + 1);
  }
}

double relative_width(const Measurement& measurement, const AutoRuns& automatic) {
  const Summary summary = measurement.summary();
  const std::optional<Spread>& rate = rate_of(summary);
  if (!rate) return 0;
  const double width = width_of(*rate) / automatic.width;
  if (!automatic.tail) return width;
  return std::max(width, tail_width(measurement, *automatic.tail) / automatic.tail->width);
}

double runs_by_variation(const Measurement& measurement, const AutoRuns& automatic) {
  const std::vector<double> rates = main_rates(measurement);
  if (rates.size() < 2) return 0;
  // The standard error of a median is 1.25 times that of a mean.
  constexpr double kDeviations = 2 * 1.96 * 1.2533;
  const double variation = std::sqrt(variance(rates)) / mean(rates);
  return std::pow(kDeviations * variation / automatic.width, 2);
}

}  // namespace filereel
