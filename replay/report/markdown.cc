#include "replay/report/markdown.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/comparison_text.h"
#include "replay/compare/prediction_text.h"
#include "replay/report/figures.h"

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

// "1.04 × (0.81–1.33)": the interval of the expected time, relative to the recorded one.
std::string ratio_text(const PredictedTime& predicted, double recorded_s) {
  const auto ratio = [&](double seconds) { return format_number(seconds / recorded_s); };
  return ratio(predicted.median_s) + " ×" +
         (predicted.interval ? fmt::format(" ({})", range_cell(predicted.interval, ratio)) : "");
}

std::string prediction_table(const StoredPrediction& stored) {
  const double recorded_s = stored.program.recorded_s;
  std::vector<MarkdownRow> rows = {{"volume", "rank", "expected time",
                                    std::string(interval_name(stored.prediction)), "vs recorded",
                                    "runs"}};
  for (const PredictedTime& predicted : stored.prediction.times) {
    const ReplayedVolume& volume = stored.volumes[predicted.volume];
    const bool known = predicted.median_s > 0;
    rows.push_back(
        {markdown_text(volume_text(volume)), rank_text(predicted, stored.prediction),
         known ? format_duration(predicted.median_s) : std::string(kNone),
         range_cell(predicted.interval, format_duration),
         known && recorded_s > 0 ? ratio_text(predicted, recorded_s) : std::string(kNone),
         fmt::format("{}", volume.seconds.size())});
  }
  return markdown_table(rows);
}

std::string prediction_section(const StoredPrediction& stored, const std::string& name) {
  std::string text = fmt::format("## Prediction of {}\n\n", markdown_text(name));
  text += fmt::format("Recorded as {} in {}. {}\n\n", markdown_text(stored.program.reel),
                      format_duration(stored.program.recorded_s),
                      markdown_text(conclusion_text(stored)));
  text += paragraph(unknown_accuracy_text(stored.program)) + prediction_table(stored);
  std::vector<std::string> remarks = remarks_of(stored);
  for (const PredictedTime& predicted : stored.prediction.times) {
    if (predicted.reason.empty()) continue;
    remarks.push_back(fmt::format("{}: no prediction: {}",
                                  volume_text(stored.volumes[predicted.volume]), predicted.reason));
  }
  for (const TimeLimit& limit : time_limits(stored)) {
    const ReplayedVolume volume{.name = limit.volume, .file_system = limit.file_system};
    remarks.push_back(fmt::format("{}: what takes the time: {}", volume_text(volume), limit.text));
  }
  return text + markdown_bullets(remarks) + paragraph(reliability_text(stored));
}

// The expected times of several programs: a row for each, a column for each volume.
std::string predictions_table(std::span<const StoredPrediction> predictions,
                              std::span<const std::string> names) {
  std::vector<std::string> volumes;
  for (const StoredPrediction& stored : predictions) {
    for (const ReplayedVolume& volume : stored.volumes) {
      const std::string text = volume_text(volume);
      if (!contains(volumes, text)) volumes.push_back(text);
    }
  }
  std::vector<MarkdownRow> rows = {{"expected time"}};
  for (const std::string& name : volumes) rows[0].push_back(markdown_text(name));
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    MarkdownRow& row = rows.emplace_back(volumes.size() + 1, std::string(kNone));
    row[0] = markdown_text(names[i]);
    for (const PredictedTime& predicted : predictions[i].prediction.times) {
      const auto column =
          std::ranges::find(volumes, volume_text(predictions[i].volumes[predicted.volume]));
      if (predicted.median_s <= 0) continue;
      row[static_cast<std::size_t>(column - volumes.begin()) + 1] =
          format_duration(predicted.median_s) +
          (predicted.interval
               ? fmt::format(" ({})", range_cell(predicted.interval, format_duration))
               : "");
    }
  }
  return fmt::format("## Predictions\n\nIn parentheses: {}.\n\n", kBetweenSessions) +
         markdown_table(rows);
}

std::string comparison_table(const ResultComparison& comparison) {
  const auto ratio = [](double value) { return fmt::format("{:.3f}", value); };
  const auto time = [](const ComparedMeasurement& compared, const ComparedSide& side) {
    if (!compared.comparable) return std::string(kNone);
    const std::string rate =
        side.operations_per_s ? fmt::format(" ({}/s)", format_number(*side.operations_per_s)) : "";
    return format_duration(side.median) + rate;
  };
  const Parameters shared = shared_replay_of(comparison.measurements);
  std::vector<MarkdownRow> rows = {{"measurement", "verdict", "ratio",
                                    std::string(interval_name(comparison)), "base", "new", "runs",
                                    "tail", "stalls"}};
  for (const ComparedMeasurement& measurement : comparison.measurements) {
    rows.push_back({markdown_text(key_text(measurement.key, shared)), verdict_text(measurement),
                    measurement.time.p ? ratio(measurement.time.ratio) : std::string(kNone),
                    range_cell(measurement.time.ratio_interval, ratio),
                    time(measurement, measurement.base), time(measurement, measurement.fresh),
                    fmt::format("{}, {}", measurement.base.samples, measurement.fresh.samples),
                    measurement.tail ? fmt::format("{:.2f}", measurement.tail->answer.ratio)
                                     : std::string(kNone),
                    measurement.stalls ? fmt::format("{} → {}", measurement.stalls->base.stalls,
                                                     measurement.stalls->fresh.stalls)
                                       : std::string(kNone)});
  }
  return markdown_table(rows);
}

std::string warning_bullets(const std::vector<Warning>& warnings) {
  std::vector<std::string> list;
  for (const Warning& warning : warnings) {
    list.push_back(fmt::format("{} ({}). {}", sentence_of(warning.text, ""), warning.code,
                               sentence_of(warning.next_step)));
  }
  return markdown_bullets(list);
}

std::string index_table(const Index& index, std::span<const std::string> names) {
  // Without a unit, the values are relative themselves.
  const bool also_relative = index.reference && !index.unit.empty();
  const std::string relative =
      index.reference ? fmt::format("relative to {} = 100", markdown_text(names[*index.reference]))
                      : "";
  std::string text =
      fmt::format("{}: geometric mean {}; {} is better.\n\n", markdown_text(index.definition.name),
                  markdown_text(index.contents()),
                  index.more_is_better ? "more"
                  : also_relative      ? "less, of relative values more,"
                                       : "less");
  std::vector<MarkdownRow> rows = {
      {"on", index.unit.empty() ? relative : index.unit, std::string(index.interval_name())}};
  if (also_relative) {
    rows[0].insert(rows[0].end(), {relative, std::string(index.relative_interval_name())});
  }
  const auto share = [](double one) { return fmt::format("{:.1f}", one); };
  for (const std::size_t i : index.order()) {
    const IndexValue& value = index.values[i];
    MarkdownRow& row = rows.emplace_back();
    const auto own = [&index](double figure) { return index.text(figure); };
    row = {markdown_text(names[i]), own(value.value), range_cell(value.interval, own)};
    if (!also_relative) continue;
    row.push_back(value.relative ? share(*value.relative) : std::string(kNone));
    row.push_back(range_cell(value.relative_interval, share));
  }
  return text + markdown_table(rows);
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable_line(text)) {
    if (std::string_view("\\`*_[]<>|#&~!").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_bullets(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += fmt::format("- {}\n", markdown_text(text));
  return list.empty() ? "" : list + "\n";
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

std::string markdown_predictions(std::span<const StoredPrediction> predictions) {
  const std::vector<std::string> names = program_names(predictions);
  std::string text = predictions.size() > 1 ? predictions_table(predictions, names) : "";
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    text += prediction_section(predictions[i], names[i]);
  }
  return text;
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
  text += warning_bullets(comparison.warnings);
  if (comparison.measurements.empty()) return text;
  text += comparison_table(comparison) + paragraph(basis_of_changes(comparison));
  std::vector<std::string> reasons;
  const Parameters shared = shared_replay_of(comparison.measurements);
  for (const ComparedMeasurement& compared : comparison.measurements) {
    const std::string name = key_text(compared.key, shared);
    if (!compared.evidence.empty()) {
      reasons.push_back(fmt::format("{}: {}, {}", name, verdict_text(compared), compared.evidence));
    }
    if (compared.verdict == Verdict::cannot_tell) {
      reasons.push_back(fmt::format("{}: {}", name, undecided_text(compared)));
    }
  }
  for (const auto& [keys, side] : {std::pair(&comparison.only_base, &comparison.base_name),
                                   std::pair(&comparison.only_fresh, &comparison.fresh_name)}) {
    for (const MeasurementKey& key : *keys) {
      reasons.push_back(fmt::format("{}: measured only in {}", key_text(key, shared), *side));
    }
  }
  return text + markdown_bullets(reasons);
}

std::string markdown_ranking(const Ranking& ranking) {
  if (ranking.measurements.empty()) return "";
  const Parameters shared = shared_replay_of(ranking.measurements);
  std::vector<MarkdownRow> rows = {{"rank by time"}};
  for (const std::string& name : ranking.names) rows[0].push_back(markdown_text(name));
  std::vector<std::string> proven, others;
  const auto is_open = [](const RankedMeasurement& ranked) {
    return ranked.comparable() && !ranked.has_ranks() && !ranked.indicates();
  };
  constexpr std::ptrdiff_t kFew = 3;
  const auto open = std::ranges::count_if(ranking.measurements, is_open);
  for (const RankedMeasurement& measurement : ranking.measurements) {
    const std::string name = key_text(measurement.key, shared);
    std::vector<std::string>& list = measurement.has_ranks() ? proven : others;
    if (open > kFew && is_open(measurement)) continue;
    list.push_back(fmt::format("{}: {}", name, conclusion_text(measurement, ranking)));
    if (!measurement.has_ranks()) continue;
    MarkdownRow& row = rows.emplace_back(ranking.names.size() + 1, std::string(kNone));
    row[0] = markdown_text(name);
    for (const RankedEntry& entry : measurement.entries) {
      if (entry.rank > 0) row[entry.group + 1] = rank_text(entry.rank, entry.last_rank);
    }
  }
  std::string text =
      "## What is proven\n\n" + warning_bullets(ranking.warnings) + markdown_bullets(proven);
  if (!proven.empty()) text += markdown_table(rows);
  if (open > kFew) {
    others.push_back(fmt::format("{}: no significant difference",
                                 counted_of(open, ranking.measurements.size(), "measurement")));
  }
  return text + markdown_bullets(others) + paragraph(promise_text(ranking));
}

std::string markdown_indexes(std::span<const Index> indexes, std::span<const std::string> names) {
  std::string text;
  for (const Index& index : indexes) {
    if (!index.values.empty()) text += index_table(index, names);
  }
  return text.empty() ? "" : "## Index\n\n" + text;
}

}  // namespace filereel
