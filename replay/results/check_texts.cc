#include "replay/results/check_texts.h"

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"

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

Throttling throttling_of(const Conditions& conditions) {
  return {.cores = conditions.cpu_quota.value_or(0),
          .periods = conditions.cpu_periods.value_or(0),
          .throttled_periods = conditions.cpu_throttled_periods.value_or(0),
          .throttled_s = conditions.cpu_throttled_s.value_or(0)};
}

std::string quota_wait_text(const Throttling& all, std::string_view whom) {
  return fmt::format("the CPU quota of {} made {} wait in {:.0f} of {:.0f} periods, {} in all",
                     cores_text(all.cores), whom, all.throttled_periods, all.periods,
                     format_duration(all.throttled_s));
}

bool is_throttled(const Conditions& conditions) {
  return throttling_of(conditions).matters();
}

}  // namespace filereel
