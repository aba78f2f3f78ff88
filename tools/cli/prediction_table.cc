#include "tools/cli/prediction_table.h"

#include <fmt/format.h>

#include "filesets/system/units.h"
#include "replay/compare/comparison.h"
#include "replay/compare/prediction_text.h"

namespace filereel {
namespace {

// "1.04 x", below it the interval of the expected time, relative to the recorded one.
Cell ratio_cell(const PredictedTime& predicted, double recorded_s) {
  if (predicted.median_s <= 0 || recorded_s <= 0) return "-";
  const auto ratio = [&](double seconds) { return format_number(seconds / recorded_s); };
  Cell cell = ratio(predicted.median_s) + " x";
  if (predicted.interval) {
    cell.below =
        fmt::format("{}–{} x", ratio(predicted.interval->low), ratio(predicted.interval->high));
  }
  return cell;
}

std::string time_table(const StoredPrediction& stored, const Bold& bold) {
  const double recorded_s = stored.program.recorded_s;
  Rows rows = {{"volume", "rank", "expected time", std::string(interval_name(stored.prediction)),
                "vs recorded"}};
  for (const PredictedTime& predicted : stored.prediction.times) {
    rows.push_back({volume_text(stored.volumes[predicted.volume]),
                    rank_text(predicted, stored.prediction),
                    predicted.median_s > 0 ? format_duration(predicted.median_s) : "-",
                    predicted.interval ? range_text(*predicted.interval) : "-",
                    ratio_cell(predicted, recorded_s)});
  }
  return format_table(rows, bold);
}

std::string limits_text(const StoredPrediction& stored) {
  std::string text;
  for (const TimeLimit& limit : time_limits(stored)) {
    const ReplayedVolume volume{.name = limit.volume, .file_system = limit.file_system};
    text += wrapped(fmt::format("{}: {}", volume_text(volume), limit.text), 2);
  }
  return text.empty() ? "" : "What takes the time:\n" + text + "\n";
}

}  // namespace

std::string format_prediction(const StoredPrediction& stored, const Bold& bold) {
  std::string text = fmt::format("{}: {} where it was recorded\n\n", program_name(stored.program),
                                 format_duration(stored.program.recorded_s)) +
                     time_table(stored, bold);
  for (const PredictedTime& predicted : stored.prediction.times) {
    if (predicted.rank > 0) continue;
    text += wrapped(fmt::format("{}: no prediction: {}",
                                volume_text(stored.volumes[predicted.volume]), predicted.reason),
                    2);
  }
  text += "\n" + wrapped(conclusion_text(stored), 0) + limits_text(stored) +
          wrapped(reliability_text(stored), 2);
  const std::string unknown = unknown_accuracy_text(stored.program);
  if (!unknown.empty()) text += wrapped(unknown, 2);
  for (const std::string& remark : remarks_of(stored)) text += wrapped(remark, 2);
  return text;
}

std::string warnings_of(std::span<const Result> results) {
  Result all;
  for (const Result& result : results) {
    const std::string name = results.size() > 1 ? result.label : "";
    for (const Warning& warning : result.warnings) all.warn(warning, name);
  }
  std::string text;
  for (const Warning& warning : all.warnings) text += format_warning(warning);
  return text;
}

}  // namespace filereel
