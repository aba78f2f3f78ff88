#include "tools/cli/ranking_table.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/comparison_text.h"
#include "tools/cli/compare_table.h"
#include "tools/cli/table.h"

namespace filereel {
namespace {

// "1.07", "4.3".
std::string times_text(double ratio) {
  const int digits = ratio < 1.995 ? 2 : ratio < 99.5 ? 1 : 0;
  return fmt::format("{:.{}f}", ratio, digits);
}

template <class Text>
std::string interval_text(const std::optional<Interval>& interval, Text text) {
  return interval ? fmt::format("{} – {}", text(interval->low), text(interval->high)) : "-";
}

Bold bold_on(const Session& session, int descriptor) {
  return [&session, descriptor](const std::string& text) { return session.bold(text, descriptor); };
}

std::string measurement_table(const RankedMeasurement& ranked, const Parameters& shared,
                              const Ranking& ranking, const Bold& bold) {
  const std::span<const std::string> names = ranking.names;
  const bool with_rates = ranked.figure == Figure::per_operation;
  Rows rows = {{"", "rank", "runs", "median", std::string(kBetweenSessions), "vs fastest"}};
  if (with_rates) rows[0].emplace_back("operations/s");
  std::string reasons;
  for (const RankedEntry& entry : ranked.entries) {
    const ComparedSide& side = entry.side;
    const std::optional<double>& rate = side.operations_per_s;
    rows.push_back({names[entry.group], rank_text(entry.rank, entry.last_rank),
                    fmt::format("{}", side.samples),
                    side.samples > 0 ? format_duration(side.median) : "-",
                    interval_text(side.interval, format_duration),
                    entry.comparable ? times_text(entry.ratio) + " x" : "-"});
    if (with_rates) rows.back().emplace_back(rate ? format_number(*rate) : "-");
    if (!entry.reason.empty()) {
      reasons += wrapped(fmt::format("{} is not ranked: {}", names[entry.group], entry.reason), 2);
    }
  }
  return bold(printable(key_text(ranked.key, shared))) +
         fmt::format(", {}\n", figure_name(ranked.figure)) + format_table(rows, bold) + reasons +
         wrapped(printable_line(conclusion_text(ranked, ranking)), 2) + "\n";
}

// The definition of the index, in lines.
std::string index_heading(const Index& index, std::span<const std::string> names,
                          const Bold& bold) {
  const std::string name = "Index " + printable(index.definition.name);
  std::string text = name;
  if (!index.plan.empty()) text += fmt::format(" of plan {}", printable(index.plan));
  text += ": ";
  if (index.values.empty()) {
    text += "no common measurement";
  } else {
    text += fmt::format("geometric mean {}{}{}", printable(index.contents()),
                        index.rate.empty() ? "" : ": ", index.rate);
  }
  if (!index.left_out.empty()) text += fmt::format("; {} left out", index.left_out.size());
  if (index.reference) text += fmt::format("; 100 is {}", names[*index.reference]);
  if (!index.values.empty()) {
    text += index.more_is_better ? "; more is better" : "; less is better";
    if (!index.more_is_better && index.reference) text += ", of relative values more";
  }
  text = wrapped(text, 2);
  return text.starts_with(name) ? bold(name) + text.substr(name.size()) : text;
}

std::string index_table(const Index& index, std::span<const std::string> names, const Bold& bold) {
  std::string text = index_heading(index, names, bold);
  if (index.values.empty()) return text + "\n";
  Rows rows = {{"", "index", std::string(index.interval_name())}};
  const bool storage = index.values.front().storage.has_value();
  if (storage) rows[0].insert(rows[0].end(), {"busy MB/s", "access time"});
  const bool with_relative = index.reference && !index.unit.empty();
  if (with_relative)
    rows[0].insert(rows[0].end(), {"relative", std::string(index.relative_interval_name())});
  for (const std::size_t i : index.order()) {
    const IndexValue& value = index.values[i];
    Row& row = rows.emplace_back();
    const auto own = [&index](double figure) { return index.text(figure); };
    row = {names[i], own(value.value), interval_text(value.interval, own)};
    if (storage) {
      row.push_back(format_number(value.storage->mb_per_s));
      row.push_back(format_duration(value.storage->access_us * 1e-6));
    }
    const auto share = [](double relative) { return fmt::format("{:.1f}", relative); };
    if (with_relative) {
      row.push_back(share(*value.relative));
      row.push_back(interval_text(value.relative_interval, share));
    }
  }
  return text + format_table(rows, bold) + "\n";
}

std::string overall(const Ranking& ranking) {
  std::vector<std::string> parts;
  for (std::size_t group = 0; group < ranking.names.size(); ++group) {
    const std::size_t firsts = ranking.firsts(group);
    if (firsts > 0) parts.push_back(fmt::format("{} in {}", ranking.names[group], firsts));
  }
  const std::size_t all = ranking.measurements.size();
  const auto with_ranks = static_cast<std::size_t>(
      std::ranges::count_if(ranking.measurements, &RankedMeasurement::has_ranks));
  const std::string ranks =
      with_ranks == 0
          ? "no ranking"
          : fmt::format("ranking of {}; proven fastest: {}",
                        counted_of(with_ranks, all, "measurement"),
                        parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", ")));
  return fmt::format("Overall: {} ({})", ranks, promise_text(ranking));
}

}  // namespace

std::string format_indexes(std::span<const Index> indexes, std::span<const std::string> names,
                           const Session& session, int descriptor) {
  std::string text;
  for (const Index& index : indexes) {
    text += "\n" + index_table(index, names, bold_on(session, descriptor));
    text.pop_back();
  }
  return text;
}

std::string format_ranking(const Ranking& ranking, std::span<const Index> indexes,
                           const Session& session, int descriptor, bool all) {
  const Bold bold = bold_on(session, descriptor);
  const Parameters shared = shared_replay_of(ranking.measurements);
  std::string text;
  for (const Difference& difference : ranking.differences) {
    text += wrapped(printable_line(difference.text(ranking.names)), 2);
  }
  text += replay_line(shared);
  if (!text.empty()) text += "\n";
  const bool folded = !all && is_long(ranking.measurements.size());
  std::size_t others = 0;
  std::string conclusions;  // of what is only indicated, or not compared, if folded
  for (const RankedMeasurement& measurement : ranking.measurements) {
    if (!folded || measurement.decided()) {
      text += measurement_table(measurement, shared, ranking, bold);
    } else if (measurement.indicates() || !measurement.comparable()) {
      conclusions += wrapped(printable_line(fmt::format("{}: {}", key_text(measurement.key, shared),
                                                        conclusion_text(measurement, ranking))),
                             2);
    } else {
      ++others;
    }
  }
  text += conclusions;
  if (others > 0) {
    text += wrapped(fmt::format("{}{}: nothing is proven or indicated; filereel compare --all "
                                "shows {}",
                                conclusions.empty() ? "" : "the other ",
                                counted(others, "measurement"), agreeing(others, "it", "them")),
                    2);
  }
  if (others > 0 || !conclusions.empty()) text += "\n";
  text += pace_note(std::ranges::any_of(ranking.measurements, [](const RankedMeasurement& ranked) {
    return ranked.figure == Figure::in_calls;
  }));
  for (const Index& index : indexes) text += index_table(index, ranking.names, bold);
  for (const Warning& warning : ranking.warnings) text += format_warning(warning);
  text += fmt::format("{}: includes what sessions are assumed to differ by\n", kBetweenSessions);
  constexpr std::string_view kHeading = "Overall:";
  std::string last = wrapped(overall(ranking), 2);
  return text + last.replace(0, kHeading.size(), bold(std::string(kHeading)));
}

}  // namespace filereel
