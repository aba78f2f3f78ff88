#include "replay/report/markdown.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/compare/prediction_limits.h"
#include "replay/compare/prediction_text.h"
#include "replay/report/formatting.h"

namespace filereel {
namespace {

constexpr std::string_view kNone = "–";

template <class Text>
std::string range_cell(const std::optional<Interval>& interval, Text text) {
  return interval ? fmt::format("{}–{}", text(interval->low), text(interval->high))
                  : std::string(kNone);
}

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : markdown_text(sentence_of(text)) + "\n\n";
}

std::string bullets(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += fmt::format("- {}\n", markdown_text(text));
  return list.empty() ? "" : list + "\n";
}

std::string prediction_table(const StoredPrediction& stored) {
  const double recorded_s = stored.program.recorded_s;
  std::vector<MarkdownRow> rows = {
      {"volume", "rank", "expected time", std::string(kBetweenSessions), "vs recorded", "runs"}};
  for (const PredictedTime& one : stored.prediction.times) {
    const ReplayedVolume& volume = stored.volumes[one.volume];
    const bool known = one.median_s > 0;
    rows.push_back({markdown_text(volume_text(volume)), rank_text(one, stored.prediction),
                    known ? predicted_time_text(one.median_s) : std::string(kNone),
                    range_cell(one.interval, predicted_time_text),
                    known && recorded_s > 0 ? format_number(one.median_s / recorded_s) + " ×"
                                            : std::string(kNone),
                    fmt::format("{}", volume.seconds.size())});
  }
  return markdown_table(rows);
}

std::string comparison_table(const ResultComparison& comparison) {
  const auto ratio = [](double value) { return fmt::format("{:.3f}", value); };
  const auto time = [](const ComparedSide& side) {
    if (side.samples == 0) return std::string(kNone);
    const std::string rate =
        side.operations_per_s ? fmt::format(" ({}/s)", format_number(*side.operations_per_s)) : "";
    return format_duration(side.median) + rate;
  };
  const Parameters shared = shared_replay_of(comparison.measurements);
  std::vector<MarkdownRow> rows = {{"measurement", "verdict", "ratio",
                                    std::string(kBetweenSessions), "base", "new", "runs", "tail",
                                    "stalls"}};
  for (const ComparedMeasurement& one : comparison.measurements) {
    rows.push_back({markdown_text(key_text(one.key, shared)), verdict_text(one),
                    one.time.p ? ratio(one.time.ratio) : std::string(kNone),
                    range_cell(one.time.ratio_interval, ratio), time(one.base), time(one.fresh),
                    fmt::format("{}, {}", one.base.samples, one.fresh.samples),
                    one.tail ? fmt::format("{:.2f}", one.tail->answer.ratio) : std::string(kNone),
                    one.stalls
                        ? fmt::format("{} → {}", one.stalls->base.stalls, one.stalls->fresh.stalls)
                        : std::string(kNone)});
  }
  return markdown_table(rows);
}

std::string index_table(const Index& index, std::span<const std::string> names) {
  // Without a unit, the values are relative themselves.
  const bool also_relative = index.reference && !index.unit.empty();
  const std::string relative =
      index.reference ? fmt::format("relative to {} = 100", markdown_text(names[*index.reference]))
                      : "";
  std::string text = fmt::format("{}: geometric mean of {}; {} is better.\n\n",
                                 markdown_text(index.definition.name),
                                 counted_of(index.measurements.size(), index.out_of, "measurement"),
                                 index.more_is_better ? "more" : "less");
  std::vector<MarkdownRow> rows = {
      {"on", index.unit.empty() ? relative : index.unit, std::string(kBetweenSessions)}};
  if (also_relative) rows[0].insert(rows[0].end(), {relative, std::string(kBetweenSessions)});
  const auto share = [](double one) { return fmt::format("{:.1f}", one); };
  for (const std::size_t i : index.order()) {
    const IndexValue& value = index.values[i];
    MarkdownRow& row = rows.emplace_back();
    row = {markdown_text(names[i]), format_number(value.value),
           range_cell(value.interval, format_number)};
    if (!also_relative) continue;
    row.push_back(value.relative ? share(*value.relative) : std::string(kNone));
    row.push_back(range_cell(value.relative_interval, share));
  }
  return text + markdown_table(rows);
}

}  // namespace

std::string markdown_text(std::string_view text) {
  constexpr std::size_t kMost = 1000;
  std::string out;
  for (const char c : printable(text, kMost)) {
    if (std::string_view("\\`*_[]<>|#&~!").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_table(const std::vector<MarkdownRow>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i > 0) continue;
    text += "|---|";
    for (std::size_t column = 1; column < rows[i].size(); ++column) text += "---:|";
    text += '\n';
  }
  return text + "\n";
}

std::string markdown_prediction(const StoredPrediction& stored) {
  std::string text =
      fmt::format("## Prediction of {}\n\n", markdown_text(program_name(stored.program)));
  text += fmt::format("Recorded as {} in {}. {}\n\n", markdown_text(stored.program.reel),
                      predicted_time_text(stored.program.recorded_s),
                      markdown_text(conclusion_text(stored)));
  text += paragraph(unknown_accuracy_text(stored.program)) + prediction_table(stored);
  std::vector<std::string> remarks = remarks_of(stored);
  for (const PredictedTime& one : stored.prediction.times) {
    if (one.reason.empty()) continue;
    remarks.push_back(
        fmt::format("{}: no prediction: {}", volume_text(stored.volumes[one.volume]), one.reason));
  }
  for (const TimeLimit& one : time_limits(stored)) {
    const ReplayedVolume volume{.name = one.volume, .file_system = one.file_system};
    remarks.push_back(fmt::format("{}: what takes the time: {}", volume_text(volume), one.text));
  }
  return text + bullets(remarks) + paragraph(reliability_text(stored));
}

std::string markdown_comparison(const ResultComparison& comparison) {
  std::string text = fmt::format(
      "## Comparison\n\nBase: {}; new: {}. Overall: {}. Changes below {} of the time are "
      "ignored. "
      "{}\n\n",
      markdown_text(comparison.base_name), markdown_text(comparison.fresh_name),
      comparison.comparable() ? verdict_name(comparison.overall) : "nothing is comparable",
      share_text(comparison.options.threshold),
      markdown_text(sentence_of(promise_text(comparison))));
  text += paragraph(control_text(comparison.control));
  std::vector<std::string> remarks;
  for (const Warning& one : comparison.warnings) {
    remarks.push_back(fmt::format("{} ({}). {}", sentence_of(one.text, ""), one.code,
                                  sentence_of(one.next_step)));
  }
  text += bullets(remarks);
  if (comparison.measurements.empty()) return text;
  text += comparison_table(comparison);
  std::vector<std::string> reasons;
  const Parameters shared = shared_replay_of(comparison.measurements);
  for (const ComparedMeasurement& one : comparison.measurements) {
    const std::string name = key_text(one.key, shared);
    if (!one.evidence.empty()) {
      reasons.push_back(fmt::format("{}: {}, {}", name, verdict_text(one), one.evidence));
    }
    if (one.verdict == Verdict::cannot_tell) {
      reasons.push_back(fmt::format("{}: {}", name, undecided_text(one)));
    }
  }
  for (const auto& [keys, side] : {std::pair(&comparison.only_base, &comparison.base_name),
                                   std::pair(&comparison.only_fresh, &comparison.fresh_name)}) {
    for (const MeasurementKey& key : *keys) {
      reasons.push_back(fmt::format("{}: measured only in {}", key_text(key, shared), *side));
    }
  }
  return text + bullets(reasons);
}

std::string markdown_indexes(std::span<const Index> indexes, std::span<const std::string> names) {
  std::string text;
  for (const Index& one : indexes) {
    if (!one.values.empty()) text += index_table(one, names);
  }
  return text.empty() ? "" : "## Index\n\n" + text;
}

}  // namespace filereel
