#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/mount_info.h"
#include "filesets/system/units.h"
#include "replay/report/conclusions.h"
#include "replay/report/formatting.h"
#include "replay/report/markdown.h"
#include "replay/report/text_reports.h"
#include "replay/results/client_samples.h"

namespace filereel {
namespace {

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
              const std::vector<const Metric*>& columns, std::vector<MarkdownRow>& rows) {
  const bool several = overview.series.size() > 1;
  for (std::size_t s = 0; s < row.cells.size(); ++s) {
    if (!row.cells[s]) continue;
    MarkdownRow& line = rows.emplace_back(1, markdown_text(subject_of(*row.first)));
    if (several) line.push_back(markdown_text(overview.series[s].name));
    for (const Metric* metric : columns) {
      const Result& result = results[overview.series[s].result].result;
      const auto spread = spread_of(*metric, result, *row.cells[s]);
      line.push_back(
          spread ? spread_cell(*metric, *spread, standings.of(s, *metric) == Standing::best) : "–");
    }
    if (is_incomplete(*row.cells[s]) || all_failed(*row.cells[s])) {
      line.front() += " (failed)";
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
  std::vector<MarkdownRow> rows(1, MarkdownRow{"measurement"});
  if (overview.series.size() > 1) rows.front().emplace_back("on");
  for (const Metric* metric : columns) rows.front().emplace_back(metric->heading);
  for (std::size_t i = 0; i < overview.rows.size(); ++i) {
    add_rows(results, overview, overview.rows[i],
             standings.rows.empty() ? RowStandings() : standings.rows[i], columns, rows);
  }
  return markdown_table(rows);
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
  std::vector<MarkdownRow> rows = {{"volume", "file system", "layers", "size", "mount options"}};
  for (const VolumeDescription& one : result.volumes) {
    rows.push_back({fmt::format("{} {}{}", role_name(one.role), markdown_text(one.target),
                                one.network ? " on " + markdown_text(one.network->source) : ""),
                    fmt::format("{} ({}), {}", markdown_text(one.file_system),
                                markdown_text(one.driver), markdown_text(one.age)),
                    markdown_text(fmt::format("{}", fmt::join(one.layers, ", "))),
                    format_size(one.size), markdown_text(distinct_options(one.mount_options))});
  }
  return markdown_table(rows);
}

std::string results_section(std::span<const ReportedResult> results,
                            const Conclusions& conclusions) {
  const Overview& overview = conclusions.overview;
  std::string text = fmt::format(
      "## {}\n\n", results.size() == 1 ? markdown_text(result_names(results).front()) : "Results");
  text += results_table(results, overview, conclusions.standings);
  text += clients_section(results, overview);
  text +=
      "Medians with 95 % intervals, from six runs on, otherwise with minimum and maximum; "
      "percentiles and maxima of latency are those of all samples together; 1 MB is 10^6 bytes";
  return text + (overview.series.size() > 1
                     ? "; bold: the fastest, and all that are neither proven nor indicated to be "
                       "slower.\n"
                     : ".\n");
}

std::string result_section(const Result& result) {
  std::string text;
  const std::string incomplete = incomplete_text(result);
  if (!incomplete.empty())
    text += fmt::format("**Incomplete: {}.**\n\n", markdown_text(incomplete));
  if (!result.note.empty()) text += markdown_text(result.note) + "\n\n";
  text += volumes(result);
  const std::string drives = drives_text(result);
  text += fmt::format("{}{}, Linux {}; {}; filereel {}\n",
                      drives.empty() ? "" : markdown_text(drives) + "; ",
                      markdown_text(result.host.cpu), markdown_text(result.host.kernel),
                      markdown_text(result.started), markdown_text(result.version));
  for (const Warning& one : result.warnings) {
    text +=
        fmt::format("{}- warning: {} ({}); {}\n", &one == result.warnings.data() ? "\n" : "",
                    markdown_text(one.text), markdown_text(one.code), markdown_text(one.next_step));
  }
  return text;
}

}  // namespace

std::string markdown_report(const ReportColumns& columns,
                            std::span<const StoredPrediction> predictions) {
  const std::vector<ReportedResult>& results = columns.pooled();
  const Conclusions conclusions = conclusions_of(columns);
  const Overview& overview = conclusions.overview;
  std::string text = "# File performance\n\n";
  for (const std::string& finding : conclusions.findings) {
    text += "- " + markdown_text(finding) + "\n";
  }
  text += "\n";
  for (const StoredPrediction& stored : predictions) text += markdown_prediction(stored);
  if (conclusions.comparison) text += markdown_comparison(*conclusions.comparison);
  const std::vector<std::string> names = names_of(overview);
  text += markdown_indexes(conclusions.standings.indexes, names);
  text += results_section(results, conclusions);
  for (const Difference& one : conclusions.standings.differences) {
    text += fmt::format(
        "{}- {}\n", &one == conclusions.standings.differences.data() ? "\nDifferences:\n\n" : "",
        markdown_text(one.text(names)));
  }
  const std::vector<std::string> headings = result_names(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    text += results.size() > 1 ? fmt::format("\n## {}\n\n", markdown_text(headings[i])) : "\n";
    text += result_section(results[i].result);
  }
  return text;
}

}  // namespace filereel
