#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/report/findings.h"
#include "replay/report/formatting.h"
#include "replay/report/overview.h"
#include "replay/report/ranking_data.h"
#include "replay/report/text_reports.h"
#include "replay/results/client_samples.h"

namespace filereel {
namespace {

// Escapes text for one line of Markdown.
std::string plain(std::string_view text) {
  constexpr std::size_t kMost = 1000;
  std::string out;
  for (const char c : printable(text, kMost)) {
    if (std::string_view("\\`*_[]<>|#&~!").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

using Row = std::vector<std::string>;

// The first row is the heading. The first column is left-aligned, the others right-aligned.
std::string table(const std::vector<Row>& rows) {
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

using Wanted = bool (*)(const Metric& metric);

// Wanted metrics that at least one measurement has.
std::vector<const Metric*> metrics_with_figures(std::span<const ReportedResult> results,
                                                const Overview& overview, Wanted wanted) {
  std::vector<const Metric*> columns;
  for (const Metric& metric : metrics()) {
    if (!wanted(metric)) continue;
    const bool any = std::ranges::any_of(overview.rows, [&](const OverviewRow& row) {
      for (std::size_t s = 0; s < row.cells.size(); ++s) {
        const Result& result = results[overview.series[s].result].result;
        if (row.cells[s] && spread_of(metric, result, *row.cells[s])) return true;
      }
      return false;
    });
    if (any) columns.push_back(&metric);
  }
  return columns;
}

std::string spread_cell(const Metric& metric, const Spread& spread, bool best) {
  std::string text = figure_text(metric.unit, spread.median);
  if (best) text = "**" + text + "**";
  const double low = spread.interval ? spread.interval->low : spread.low;
  const double high = spread.interval ? spread.interval->high : spread.high;
  if (low == high) return text;
  return fmt::format("{} ({}–{})", text, figure_text(metric.unit, low),
                     figure_text(metric.unit, high));
}

// A row per drive and file system with the measurement.
void add_rows(std::span<const ReportedResult> results, const Overview& overview,
              const OverviewRow& row, const RowStandings& standings,
              const std::vector<const Metric*>& columns, std::vector<Row>& rows) {
  const bool several = overview.series.size() > 1;
  for (std::size_t s = 0; s < row.cells.size(); ++s) {
    if (!row.cells[s]) continue;
    Row& line = rows.emplace_back(1, plain(subject_of(*row.first)));
    if (several) line.push_back(plain(overview.series[s].name));
    for (const Metric* metric : columns) {
      const Result& result = results[overview.series[s].result].result;
      const auto spread = spread_of(*metric, result, *row.cells[s]);
      line.push_back(
          spread ? spread_cell(*metric, *spread, standings.of(s, *metric) == Standing::best) : "–");
    }
    if (std::ranges::any_of(row.cells[s]->samples, &Sample::moved_no_data)) {
      line[several ? 2 : 1] = "no data moved";
    }
    if (info_of(row.key.kind).replays && row.cells[s]->samples.front().divergences > 0) {
      line.front() += fmt::format(" ({})", differing_text(*row.cells[s]));
    }
  }
}

// All measurements in one table, with a column for each wanted metric.
std::string metrics_table(std::span<const ReportedResult> results, const Overview& overview,
                          const Standings& standings, Wanted wanted) {
  const std::vector<const Metric*> columns = metrics_with_figures(results, overview, wanted);
  std::vector<Row> rows(1, Row{"measurement"});
  if (overview.series.size() > 1) rows.front().emplace_back("on");
  for (const Metric* metric : columns) rows.front().emplace_back(metric->heading);
  for (std::size_t i = 0; i < overview.rows.size(); ++i) {
    add_rows(results, overview, overview.rows[i],
             standings.rows.empty() ? RowStandings() : standings.rows[i], columns, rows);
  }
  return table(rows);
}

std::string results_table(std::span<const ReportedResult> results, const Overview& overview,
                          const Standings& standings) {
  if (overview.rows.empty()) return "Every sample failed.\n\n";
  return metrics_table(results, overview, standings,
                       [](const Metric& metric) { return metric.brief; });
}

// The figures of several clients; "" without them.
std::string clients_section(std::span<const ReportedResult> results, const Overview& overview) {
  std::vector<const Measurement*> all;
  for (const ReportedResult& one : results) {
    for (const Measurement& measurement : one.result.measurements) all.push_back(&measurement);
  }
  const std::string clients = clients_text(all);
  if (clients.empty()) return "";
  Overview several = overview;
  std::erase_if(several.rows, [](const OverviewRow& row) {
    return std::ranges::none_of(row.cells,
                                [](const Measurement* one) { return one && has_clients(*one); });
  });
  return clients + ":\n\n" + metrics_table(results, several, {}, [](const Metric& metric) {
           return std::ranges::find(kClientMetrics, metric.name) != kClientMetrics.end();
         });
}

std::string volumes(const Result& result) {
  if (result.volumes.empty()) return "";
  std::vector<Row> rows = {{"volume", "file system", "layers", "size", "mount options"}};
  for (const VolumeDescription& one : result.volumes) {
    rows.push_back(
        {fmt::format("{} {}{}", role_name(one.role), plain(one.target),
                     one.network ? " on " + plain(one.network->source) : ""),
         fmt::format("{} ({}), {}", plain(one.file_system), plain(one.driver), plain(one.age)),
         plain(fmt::format("{}", fmt::join(one.layers, ", "))), format_size(one.size),
         plain(one.mount_options)});
  }
  return table(rows);
}

}  // namespace

std::string markdown_report(const ReportColumns& columns) {
  const std::vector<ReportedResult>& results = columns.pooled();
  const std::vector<std::string> names = result_names(results);
  std::string text = "# File performance\n\n";
  const Overview overview = overview_of(results);
  const Standings standings = standings_of(columns, overview);
  const std::string verdict = verdict_of(overview, standings);
  for (const std::string& finding : findings_of(results, nullptr, verdict)) {
    text += "- " + plain(finding) + "\n";
  }
  text += fmt::format("\n## {}\n\n", results.size() == 1 ? plain(names.front()) : "Results");
  text += results_table(results, overview, standings) + clients_section(results, overview);
  text +=
      "Medians with 95 % confidence intervals, otherwise with extremes; percentiles and maxima of "
      "latency are those of all samples together; 1 MB is 10^6 bytes";
  text += overview.series.size() > 1
              ? "; bold: the fastest, and all that are neither proven nor indicated to be slower.\n"
              : ".\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i].result;
    text += results.size() > 1 ? fmt::format("\n## {}\n\n", plain(names[i])) : "\n";
    if (!result.complete) text += "**Incomplete: the run ended early.**\n\n";
    if (!result.note.empty()) text += plain(result.note) + "\n\n";
    text += volumes(result);
    const std::string drives = drives_text(result);
    text += fmt::format("{}{}, Linux {}; {}; filereel {}\n",
                        drives.empty() ? "" : plain(drives) + "; ", plain(result.host.cpu),
                        plain(result.host.kernel), plain(result.started), plain(result.version));
    for (const Warning& one : result.warnings) {
      text += fmt::format("{}- warning: {} ({}); {}\n", &one == result.warnings.data() ? "\n" : "",
                          plain(one.text), plain(one.code), plain(one.next_step));
    }
  }
  return text;
}

}  // namespace filereel
