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

}  // namespace filereel
