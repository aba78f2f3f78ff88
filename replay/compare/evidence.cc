#include "replay/compare/evidence.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

std::string share_of(double part, double all) {
  return format_roughly(all > 0 ? part / all * 100 : 0) + " %";
}

std::string microseconds_text(double us) {
  return format_duration(us * 1e-6);
}

std::string of_time(const ComparedMeasurement& one) {
  const AspectResult& time = one.time;
  std::string text = fmt::format("{:+.1f} % {}", (time.ratio - 1) * 100, figure_name(one.figure));
  if (time.ratio_interval) {
    text += fmt::format(" ({:+.1f} to {:+.1f} %)", (time.ratio_interval->low - 1) * 100,
                        (time.ratio_interval->high - 1) * 100);
  }
  return text;
}

std::string of_tail(const ComparedTail& tail) {
  return fmt::format("p{:g} of {} {}, {} before", tail.percentile, tail.kind,
                     microseconds_text(tail.fresh_us), microseconds_text(tail.base_us));
}

std::string of_stalls(const ComparedMeasurement& one) {
  const ComparedStalls& stalls = *one.stalls;
  const auto count = [](const StallSide& side) { return counted(side.stalls, "stall"); };
  std::string text =
      fmt::format("{} over {} in {}", count(stalls.fresh), microseconds_text(stalls.threshold_us),
                  counted(one.fresh.samples, "run"));
  if (stalls.fresh.stalls > 0) {
    text += fmt::format(" ({} of operations, {} of the time)",
                        share_of(static_cast<double>(stalls.fresh.stalls),
                                 static_cast<double>(stalls.fresh.operations)),
                        share_of(stalls.fresh.share_of_time, 1));
  }
  text += fmt::format(", {} before", stalls.base.stalls);
  if (one.base.samples != one.fresh.samples) text += fmt::format(" in {}", one.base.samples);
  return text;
}

}  // namespace

std::string evidence_of(const ComparedMeasurement& one) {
  std::vector<std::string> parts;
  if (one.time.verdict == one.verdict) parts.push_back(of_time(one));
  if (one.stalls && one.stalls->answer.verdict == one.verdict) parts.push_back(of_stalls(one));
  if (one.tail && one.tail->answer.verdict == one.verdict) parts.push_back(of_tail(*one.tail));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace filereel
