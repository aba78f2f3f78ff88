#include "replay/jobs/trace_outcome.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "replay/results/latency.h"
#include "replay/results/operation_classes.h"
#include "replay/results/packed.h"
#include "traces/check/check_text.h"
#include "traces/reel/catalogue_reels.h"

namespace filereel {
namespace {

// All in one line: `show` lists them. The recordings of the catalogue share a line.
void warn_of_approximations(const TraceInfo& info, const std::string& name, Result& result) {
  if (info.approximated.empty()) return;
  if (is_catalogue_reel(name)) {
    result.warn({"trace-approximated", "recordings of the catalogue have approximated calls",
                 "filereel show NAME lists them"});
    return;
  }
  const auto most =
      std::ranges::max_element(info.approximated, {}, [](const auto& one) { return one.second; });
  const std::size_t others = info.approximated.size() - 1;
  result.warn(
      {"trace-approximated",
       fmt::format("approximated: {} ({}){}", printable(most->first), most->second,
                   others == 0 ? "" : fmt::format(", and {}", counted(others, "other kind"))),
       "filereel show FILE.reel lists all"});
}

// What an operation that the replay refuses would change.
std::string_view refused_by(OperationKind kind) {
  switch (kind) {
    case OperationKind::make_node:
      return "device nodes";
    case OperationKind::change_owner:
      return "owners";
    default:
      return "attributes of the system";
  }
}

}  // namespace

void add_trace_figures(Sample& sample, const ReplayOutcome& outcome) {
  const ReplayStatistics& statistics = outcome.statistics;
  ReelSample& reel = sample.reel.emplace();
  reel.bytes_read = statistics.of(OperationKind::read).bytes;
  reel.bytes_written = statistics.of(OperationKind::write).bytes;
  reel.bytes_copied = statistics.of(OperationKind::copy_range).bytes;
  for (std::size_t i = 0; i < kDivergenceClasses; ++i) {
    if (statistics.by_class[i] == 0) continue;
    const auto name = divergence_class_name(static_cast<DivergenceClass>(i));
    reel.divergences.emplace(std::string(name), statistics.by_class[i]);
  }
  reel.unverified = statistics.unverified;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    if (statistics.refused[i] == 0) continue;
    reel.refused += statistics.refused[i];
    reel.refusals[std::string(refused_by(static_cast<OperationKind>(i)))] += statistics.refused[i];
  }
  if (statistics.lateness.count() > 0)
    reel.lateness = summarise_with_histogram(statistics.lateness);
}

void warn_of_trace(const TraceInfo& info, const std::string& name, Result& result) {
  const auto warn = [&](const char* code, std::string_view what, const std::string& reason,
                        std::uint64_t number, const char* next_step) {
    result.warn({code, fmt::format("{}: {} ({})", what, printable(reason), number), next_step});
  };
  for (const auto& [reason, number] : info.lost) {
    if (reason.starts_with(kEventsLost)) {
      warn("trace-events-lost", "not in the trace", reason, number,
           "record again, either less (--under) or on a less busy machine");
    } else if (reason.starts_with(kEventsBeyondMemory)) {
      warn("trace-events-lost", "not in the trace", reason, number,
           "record again with a larger --memory");
    } else {
      warn("trace-lost", "not in the trace", reason, number,
           "the replay does less work than the program did");
    }
  }
  if (info.check.differing > 0) {
    result.warn({"trace-differs", describe_differences(info.check),
                 "the replay repeats the recording, not what the program did"});
  }
  if (!info.complete) {
    result.warn({"trace-torn",
                 fmt::format("{} is truncated: only its first {} replayed", name,
                             counted(info.operations, "operation is", "operations are")),
                 "record or import it again"});
  }
  warn_of_approximations(info, name, result);
}

}  // namespace filereel
