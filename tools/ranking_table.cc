#include "tools/ranking_table.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/report/formatting.h"
#include "tools/compare_table.h"
#include "tools/table.h"

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

// "fastest: ext4, 59 ms; slowest: btrfs, 252 ms (4.3 x)".
std::string conclusion_of(const RankedMeasurement& one, std::span<const std::string> names) {
  if (!one.decided()) return "no significant difference";
  const auto is_ranked = [](const RankedEntry& entry) { return entry.rank > 0; };
  const auto by_median = [](const RankedEntry& entry) { return entry.side.median; };
  std::vector<RankedEntry> ranked;
  std::ranges::copy_if(one.entries, std::back_inserter(ranked), is_ranked);
  const auto [fastest, slowest] = std::ranges::minmax(ranked, {}, by_median);
  return fmt::format("fastest: {}, {}; slowest: {}, {} ({} x)", printable(names[fastest.group]),
                     time_text(fastest.side.median), printable(names[slowest.group]),
                     time_text(slowest.side.median), times_text(slowest.ratio));
}

std::string measurement_table(const RankedMeasurement& one, const Parameters& shared,
                              std::span<const std::string> names, const Bold& bold) {
  Rows rows = {{"", "rank", "runs", "median", "95 % interval", "vs fastest"}};
  std::string reasons;
  for (const RankedEntry& entry : one.entries) {
    const ComparedSide& side = entry.side;
    const bool ranked = entry.rank > 0;
    rows.push_back(
        {names[entry.group], ranked ? fmt::format("{}", entry.rank) : "-",
         fmt::format("{}", side.samples), side.samples > 0 ? time_text(side.median) : "-",
         interval_text(side.interval, time_text), ranked ? times_text(entry.ratio) + " x" : "-"});
    if (!ranked) {
      reasons += wrapped(fmt::format("{} is not ranked: {}", names[entry.group], entry.reason), 2);
    }
  }
  return bold(printable(key_text(one.key, shared))) +
         fmt::format(", {}\n", figure_name(one.figure)) + format_table(rows, bold) + reasons +
         wrapped(conclusion_of(one, names), 2) + "\n";
}

// The definition of the index, in lines.
std::string index_heading(const Index& index, std::span<const std::string> names,
                          const Bold& bold) {
  const std::string name = "Index " + printable(index.definition.name);
  std::string text = name + ": ";
  if (index.values.empty()) {
    text += "no common measurement";
  } else {
    text +=
        fmt::format("geometric mean of {} in {}",
                    counted(index.measurements.size(), "measurement", "measurements"), index.unit);
  }
  if (!index.left_out.empty()) text += fmt::format("; {} left out", index.left_out.size());
  if (index.reference) text += fmt::format("; 100 is {}", names[*index.reference]);
  text = wrapped(text, 2);
  return text.starts_with(name) ? bold(name) + text.substr(name.size()) : text;
}

std::string index_table(const Index& index, std::span<const std::string> names, const Bold& bold) {
  std::string text = index_heading(index, names, bold);
  if (index.values.empty()) return text + "\n";
  Rows rows = {{"", "index", "95 % interval"}};
  const bool storage = index.values.front().storage.has_value();
  if (storage) rows[0].insert(rows[0].end(), {"busy MB/s", "access time"});
  if (index.reference) rows[0].insert(rows[0].end(), {"relative", "95 % interval"});
  for (std::size_t i = 0; i < index.values.size(); ++i) {
    const IndexValue& value = index.values[i];
    Row& row = rows.emplace_back();
    row = {names[i], rate_text(value.value), interval_text(value.interval, rate_text)};
    if (storage) {
      row.push_back(rate_text(value.storage->mb_per_s));
      row.push_back(format_duration(value.storage->access_us * 1e-6));
    }
    const auto share = [](double relative) { return fmt::format("{:.1f}", relative); };
    if (value.relative) {
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
  return fmt::format(
      "Overall: rank 1 in {}: {} (equal ranks: no significant difference; threshold {:.3g} %, at "
      "most 1 false order in {:.0f} rankings{}{})",
      counted(ranking.measurements.size(), "measurement", "measurements"), fmt::join(parts, ", "),
      ranking.options.threshold * 100, 1 / ranking.options.false_alarms,
      ranking.level.empty() ? "" : " ", ranking.level);
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
  std::string text = replay_line(shared);
  if (!text.empty()) text += "\n";
  const bool folded = !all && is_long(ranking.measurements.size());
  std::size_t left_out = 0;
  for (const RankedMeasurement& one : ranking.measurements) {
    const bool shown = !folded || one.decided();
    text += shown ? measurement_table(one, shared, ranking.names, bold) : "";
    left_out += shown ? 0 : 1;
  }
  if (left_out > 0) {
    text += wrapped(fmt::format("no significant difference in {}; --all lists {}",
                                counted(left_out, "measurement"), agreeing(left_out, "it", "them")),
                    2) +
            "\n";
  }
  for (const Index& index : indexes) text += index_table(index, ranking.names, bold);
  for (const Warning& warning : ranking.warnings) text += format_warning(warning);
  constexpr std::string_view kHeading = "Overall:";
  std::string last = wrapped(overall(ranking), 2);
  return text + last.replace(0, kHeading.size(), bold(std::string(kHeading)));
}

}  // namespace filereel
