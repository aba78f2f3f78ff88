#include "replay/report/formatting.h"

#include <algorithm>

#include <fmt/format.h>

#include "filesets/system/units.h"

namespace filereel {

std::string rate_text(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  return value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string figure_text(Unit unit, double figure) {
  constexpr double kSmall = 0.1;
  switch (unit) {
    case Unit::seconds:
      return format_duration(figure);
    case Unit::microseconds:
      return format_duration(figure * 1e-6);
    case Unit::share:
      return figure < kSmall ? fmt::format("{:.1f} %", figure * 100) : share_text(figure);
    case Unit::mb_per_s:
    case Unit::per_second:
      break;
  }
  return rate_text(figure);
}

std::string share_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string divergences_text(const Measurement& measurement) {
  const auto most = std::ranges::max_element(measurement.samples, {}, &Sample::divergences);
  if (most == measurement.samples.end() || most->divergences == 0) return "0";
  return fmt::format("{} of {}", most->divergences, most->operations);
}

std::string step_of(const Measurement& measurement) {
  const bool usual = measurement.workload == info_of(measurement.kind).name;
  return (usual ? "" : measurement.workload + " ") + measurement.operation +
         point_text(measurement.parameters);
}

std::string subject_of(const Measurement& measurement) {
  const JobKindInfo& kind = info_of(measurement.kind);
  if (kind.by_set) return fmt::format("{} {}", step_of(measurement), measurement.set);
  std::string text = measurement.workload;
  if (!kind.replays && measurement.operation != text) text += " " + measurement.operation;
  return text + point_text(measurement.parameters);
}

}  // namespace filereel
