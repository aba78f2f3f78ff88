// A report as Markdown: conclusions, a table of all measurements, comparison or ranking, volumes,
// remarks. The tables are from markdown.h, and what they say from conclusions.h and figures.h, as
// on the HTML page.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/mounts.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/report/conclusions.h"
#include "replay/report/figures.h"
#include "replay/report/markdown.h"
#include "replay/report/text_reports.h"
#include "replay/report/write_cache.h"
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
  const auto [low, high] = range_of(spread);
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
    MarkdownRow& line = rows.emplace_back(1, markdown_text(subject_of(row, overview)));
    if (several) line.push_back(markdown_text(overview.series[s].name));
    for (const Metric* metric : columns) {
      const Result& result = results[overview.series[s].result].result;
      const auto spread = spread_of(*metric, result, *row.cells[s]);
      line.push_back(
          spread ? spread_cell(*metric, *spread, standings.of(s, *metric) == Standing::best) : "–");
    }
    if (is_failed(*row.cells[s])) {
      line.front() += " (failed)";
    } else if (contains(standings.other_work, s)) {
      line.front() += " (other work)";
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
  for (const ReportedResult& reported : results) {
    for (const Measurement& measurement : reported.result.measurements) all.push_back(&measurement);
  }
  const std::string clients = clients_text(all);
  if (clients.empty()) return "";
  Overview several = overview;
  std::erase_if(several.rows, [](const OverviewRow& row) {
    return std::ranges::none_of(row.cells,
                                [](const Measurement* one) { return one && has_clients(*one); });
  });
  return clients + ":\n\n" + metrics_table(results, several, {}, [](const Metric& metric) {
           return contains(kClientMetrics, metric.name);
         });
}

std::string volumes(const Result& result) {
  if (result.volumes.empty()) return "";
  std::vector<MarkdownRow> rows = {{"volume", "file system", "layers", "size", "mount options"}};
  for (const VolumeDescription& volume : result.volumes) {
    rows.push_back(
        {fmt::format("{} {}{}", role_name(volume.role), markdown_text(volume.target),
                     volume.network ? " on " + markdown_text(volume.network->source) : ""),
         fmt::format("{} ({}), {}", markdown_text(volume.file_system), markdown_text(volume.driver),
                     markdown_text(volume.age)),
         markdown_text(fmt::format("{}", fmt::join(volume.layers, ", "))), format_size(volume.size),
         markdown_text(distinct_options(volume.mount_options))});
  }
  return markdown_table(rows);
}

// What each job does, in a line: as much of it as a reader takes in.
void add_work(const Result& result, std::vector<std::string>& list) {
  constexpr std::size_t kFew = 4;
  for (const WorkRecord& work : result.plan.work) {
    std::vector<std::string> parts;
    if (!work.description.empty()) parts.push_back(work.description);
    for (const std::string& line : work.does) {
      if (parts.size() == kFew) break;
      parts.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    }
    if (parts.empty()) continue;
    const bool cut = parts.size() < work.does.size() + (work.description.empty() ? 0 : 1);
    if (cut) parts.emplace_back("…");
    list.push_back(fmt::format("{}: {}", title_of(work), fmt::join(parts, "; ")));
  }
}

// `of`: the result, in front of the subject.
std::string write_cache_section(const WriteCacheReport& report, const std::string& of) {
  std::string text =
      fmt::format("### Write cache of {}\n\n{}\n\n", markdown_text(of + report.subject),
                  markdown_text(sentence_of(report.finding)));
  std::vector<MarkdownRow> rows = {{"write cache", "", "95 % interval"}};
  for (const WriteCacheReport::Row& row : report.rows) {
    rows.push_back({row.what, row.figure, row.interval});
  }
  if (rows.size() > 1) text += markdown_table(rows) + "\n";
  return text + markdown_bullets(report.notes);
}

std::string results_section(std::span<const ReportedResult> results,
                            const Conclusions& conclusions) {
  const Overview& overview = conclusions.overview;
  std::string text = fmt::format(
      "## {}\n\n", results.size() == 1 ? markdown_text(result_names(results).front()) : "Results");
  text += results_table(results, overview, conclusions.standings);
  text += clients_section(results, overview);
  const std::vector<std::string> names = result_names(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const WriteCacheReport& report : write_caches_of(results[i].result)) {
      text += write_cache_section(report, results.size() > 1 ? names[i] + ", " : "");
    }
  }
  text +=
      "Medians with 95 % intervals, from six runs on, otherwise with minimum and maximum; "
      "percentiles and maxima of latency are those of all samples together; 1 MB is 10^6 bytes";
  return text + (text.contains("**")
                     ? "; bold: the fastest, and all that are neither proven nor indicated to be "
                       "slower.\n\n"
                     : ".\n\n");
}

// What a reader needs to judge the figures of a result, a bullet each; those that all results share
// are printed once.
std::vector<std::string> remarks_of(const Result& result) {
  std::vector<std::string> list = {fmt::format("repetitions: {}", describe_runs(result))};
  for (const std::string& setting : describe_settings(result))
    list.push_back("settings: " + setting);
  add_work(result, list);
  const std::string drives = drives_text(result);
  if (!drives.empty()) list.push_back("drives: " + drives);
  list.push_back(fmt::format("machine: {}, Linux {}", result.host.cpu, result.host.kernel));
  list.push_back("filereel " + result.version);
  for (const Warning& warning : result.warnings) {
    list.push_back(
        fmt::format("warning: {} ({}); {}", warning.text, warning.code, warning.next_step));
  }
  return list;
}

std::string result_section(const Result& result, std::vector<std::string> remarks) {
  std::string text;
  const std::string incomplete = incomplete_text(result);
  if (!incomplete.empty())
    text += fmt::format("**Incomplete: {}.**\n\n", markdown_text(incomplete));
  if (!result.note.empty()) text += markdown_text(result.note) + "\n\n";
  remarks.insert(remarks.begin(), "started " + result.started);
  return text + volumes(result) + markdown_bullets(remarks);
}

// A section for each result, after what they have in common.
std::string result_sections(std::span<const ReportedResult> results) {
  std::vector<std::vector<std::string>> remarks;
  for (const ReportedResult& reported : results) remarks.push_back(remarks_of(reported.result));
  if (results.size() == 1) return result_section(results[0].result, remarks[0]);
  std::vector<std::string> common;
  for (const std::string& remark : remarks[0]) {
    const bool in_all = std::ranges::all_of(
        remarks, [&](const std::vector<std::string>& list) { return contains(list, remark); });
    if (in_all) common.push_back(remark);
  }
  std::string text = common.empty() ? "" : "## Common to all\n\n" + markdown_bullets(common);
  const std::vector<std::string> headings = result_names(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::erase_if(remarks[i], [&](const std::string& one) { return contains(common, one); });
    text += fmt::format("## {}\n\n{}", markdown_text(headings[i]),
                        result_section(results[i].result, remarks[i]));
  }
  return text;
}

// What the results differ in besides their figures: before these.
std::string differences_section(const Ranking& ranking) {
  std::vector<std::string> list;
  for (const Difference& difference : ranking.differences)
    list.push_back(difference.text(ranking.names));
  return list.empty() ? "" : "Differences:\n\n" + markdown_bullets(list);
}

}  // namespace

std::string markdown_report(const ReportColumns& columns,
                            std::span<const StoredPrediction> predictions) {
  const std::vector<ReportedResult>& results = columns.pooled();
  const Conclusions conclusions = conclusions_of(columns, predictions);
  std::string text = "# File performance\n\n" + markdown_predictions(predictions);
  for (const std::string& finding : conclusions.findings) {
    text += "- " + markdown_text(finding) + "\n";
  }
  text += "\n";
  text += differences_section(conclusions.standings.ranking);
  if (conclusions.comparison) text += markdown_comparison(*conclusions.comparison);
  if (conclusions.shows_ranking()) text += markdown_ranking(conclusions.standings.ranking);
  text += markdown_indexes(conclusions.standings.indexes, conclusions.standings.ranking.names);
  text += results_section(results, conclusions);
  text += result_sections(results);
  if (text.contains(kBetweenSessions)) {
    text += fmt::format(
        "Intervals called “{}” include the spread that sessions are assumed to have; others rest "
        "on "
        "measured figures alone.\n\n",
        kBetweenSessions);
  }
  text.pop_back();  // each part ends with an empty line
  return text;
}

}  // namespace filereel
