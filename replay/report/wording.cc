#include "replay/report/wording.h"

#include <fmt/format.h>

namespace filereel {

std::string rate_text(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  return value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string spread_text(const std::optional<Spread>& spread) {
  if (!spread) return "–";
  if (spread->low == spread->high) return rate_text(spread->median);
  return fmt::format("{} ({}–{})", rate_text(spread->median), rate_text(spread->low),
                     rate_text(spread->high));
}

std::string share_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string subject_of(const Measurement& measurement) {
  std::string text;
  switch (measurement.kind) {
    case JobKind::fc_test:
      text = measurement.operation + " " + measurement.set;
      break;
    case JobKind::workload:
      text = measurement.workload;
      if (measurement.operation != text) text += " " + measurement.operation;
      break;
    case JobKind::trace:
      text = measurement.workload;
      break;
  }
  for (const auto& [axis, value] : measurement.parameters) {
    text += fmt::format(", {} {}", axis, value);
  }
  return text;
}

}  // namespace filereel
