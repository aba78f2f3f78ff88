#include "replay/results/check_texts.h"

#include <fmt/format.h>

#include "filesets/system/printable.h"

namespace filereel {

std::string quoted_name(const Measurement& measurement) {
  const bool by_set = info_of(measurement.kind).by_set;
  const std::string name = by_set ? measurement.operation + " of " + measurement.set
                                  : measurement.workload + ": " + measurement.operation;
  return fmt::format("'{}{}' on {}", printable(name), point_text(measurement.parameters),
                     printable(measurement.file_system));
}

std::string percent_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string cores_text(double cores) {
  return fmt::format("{:.4g} {}", cores, cores == 1 ? "core" : "cores");
}

bool is_throttled(const Conditions& conditions) {
  constexpr double kMatters = 0.01;
  const double periods = conditions.cpu_periods.value_or(0);
  return periods > 0 && conditions.cpu_throttled_periods.value_or(0) > kMatters * periods;
}

}  // namespace filereel
