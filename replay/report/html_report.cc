#include "replay/report/html_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "replay/compare/prediction_text.h"
#include "replay/json.h"
#include "replay/report/clients_data.h"
#include "replay/report/comparison_data.h"
#include "replay/report/conclusions.h"
#include "replay/report/figures.h"
#include "replay/report/overview.h"
#include "replay/report/ranking_data.h"
#include "replay/report/report_page.h"
#include "replay/report/tails_data.h"
#include "replay/report/write_cache.h"
#include "replay/results/block_baseline.h"
#include "replay/results/failures.h"
#include "replay/results/json_members.h"
#include "replay/results/metrics.h"
#include "replay/results/selection.h"

namespace filereel {
namespace {

Json samples(const Measurement& measurement) {
  Json list = Json::array();
  double Sample::* const until = rate_time(measurement);
  for (const Sample& sample : measurement.samples) {
    const SampleRates rates = rates_of(measurement, sample, until);
    Json& json = list.emplace_back(Json{{"run", sample.run},
                                        {"elapsed_s", sample.elapsed_s},
                                        {"durable_s", sample.durable_s},
                                        {"bytes", sample.bytes},
                                        {"files", sample.files},
                                        {"operations", sample.operations}});
    put(json, "mb_per_s", rates.mb_per_s);
    put(json, "mb_per_s_elapsed", rates.mb_per_s_elapsed);
    put(json, "files_per_s", rates.files_per_s);
    put(json, "operations_per_s", rates.operations_per_s);
    json["cpu_s"] = sample.cpu_user_s + sample.cpu_system_s + sample.cpu_driver_s;
    put(json, "device_bytes_read", sample.device_bytes_read);
    put(json, "device_bytes_written", sample.device_bytes_written);
    put(json, "cached_before", sample.cached_before);
    json["cold_method"] = sample.cold_method;
    if (sample.moved_no_data) json["moved_no_data"] = true;
    if (has_failed(sample)) json["failed"] = true;
  }
  return list;
}

// The data that only replays of recorded traces have: times and amounts of the typical sample,
// differences of all samples.
std::optional<Json> replayed(const Measurement& measurement) {
  const Sample* sample = typical_sample(measurement);
  if (!sample || !sample->reel) return std::nullopt;
  const ReelSample& reel = *sample->reel;
  const Differences all = differences_of(measurement);
  Json json = {{"run", sample->run},
               {"elapsed_s", sample->elapsed_s},
               {"durable_s", sample->durable_s},
               {"bytes_read", reel.bytes_read},
               {"bytes_written", reel.bytes_written},
               {"bytes_copied", reel.bytes_copied},
               {"waits", reel.waits},
               {"unverified", all.unverified},
               {"refused", all.refused},
               {"ended_early", reel.ended_early},
               {"differ", all.results},
               {"in_runs", in_runs(all)}};
  json["classes"] = all.by_class;
  json["refusals"] = all.refusals;
  put(json, "lateness", reel.lateness);
  if (all.has_trees) json["tree"] = {{"differences", all.in_tree}};
  return json;
}

Json examples(const Measurement& measurement) {
  Json list = Json::array();
  for (const Sample& sample : measurement.samples) {
    for (const DivergenceExample& example : sample.examples) {
      list.push_back({{"run", sample.run}, {"text", describe_divergence(example)}});
    }
  }
  return list;
}

// By metric name: median, lowest, highest, and the 95 % interval if there is one.
Json figures(const Result& result, const Measurement& measurement, PooledLatencies& pooled) {
  Json json = Json::object();
  for (const Metric& metric : metrics()) {
    const std::optional<Spread> spread = spread_of(metric, result, measurement, pooled);
    if (!spread) continue;
    Json& list = json[std::string(metric.name)] = {spread->median, spread->low, spread->high};
    if (spread->interval) {
      list.push_back(spread->interval->low);
      list.push_back(spread->interval->high);
    }
  }
  return json;
}

Json to_json(const Result& result, const Measurement& measurement, const PageDetail& detail) {
  Json json = {
      {"subject", subject_of(measurement)},           {"workload", measurement.workload},
      {"file_system", measurement.file_system},       {"driver", measurement.driver},
      {"earlier_rounds", measurement.earlier_rounds}, {"runs_ended", measurement.runs_ended}};
  if (is_failed(measurement)) json["failed"] = true;
  put(json, "without_direct_io", measurement.without_direct_io);
  put(json, "how", measurement.replay);
  PooledLatencies pooled(measurement);
  json["figures"] = figures(result, measurement, pooled);
  put(json, "block_share", block_share(result, measurement));
  put(json, "latency_share", latency_share(result, measurement));
  const DeviceBytes device = device_bytes_per_file_byte(measurement);
  put(json, "device_written", device.written);
  put(json, "device_read", device.read);
  json["kinds"] = kinds_data(measurement, pooled);
  json["course"] = course_data(measurement, detail);
  if (auto clients = clients_data(measurement, detail)) json["clients"] = *std::move(clients);
  json["slowest"] = slowest_data(measurement, detail);
  if (std::optional<Json> replay = replayed(measurement)) json["replay"] = std::move(*replay);
  json["examples"] = examples(measurement);
  json["samples"] = samples(measurement);
  return json;
}

Json to_json(const VolumeDescription& volume) {
  Json json = {{"role", role_name(volume.role)}};
  put_members(json, volume);
  return json;
}

Json plan_json(const Result& result) {
  const PlanRecord& plan = result.plan;
  Json json = {{"name", plan.name}, {"runs", plan.runs}, {"jobs", Json::array()}};
  for (const JobRecord& job : plan.jobs) {
    json["jobs"].push_back({{"method", info_of(job.kind).method},
                            {"name", job.name},
                            {"overhead_ns", job.overhead_ns},
                            {"axes", job.axes},
                            {"settings", settings_text(job, result.volumes)}});
  }
  json["work"] = Json::array();
  for (const WorkRecord& work : plan.work) {
    json["work"].push_back(work);
    json["work"].back()["title"] = title_of(work);
  }
  put(json, "auto_runs", plan.auto_runs);
  return json;
}

Json baselines_data(const Result& result) {
  Json list = Json::array();
  for (const auto& [one, file_systems] : shared_baselines(result.baselines)) {
    Json& json = list.emplace_back(one);
    json["file_system"] = fmt::format("{}", fmt::join(file_systems, ", "));
  }
  return list;
}

Json write_caches_data(const Result& result) {
  const auto points = [](const std::vector<std::pair<double, double>>& list) {
    Json json = Json::array();
    for (const auto& [bytes, rate] : list) json.push_back({{"x", bytes}, {"y", rate}});
    return json;
  };
  Json list = Json::array();
  for (const WriteCacheReport& report : write_caches_of(result)) {
    Json& json = list.emplace_back(Json{{"subject", report.subject},
                                        {"finding", report.finding},
                                        {"notes", report.notes},
                                        {"rows", Json::array()},
                                        {"course", points(report.course)},
                                        {"levels", points(report.levels)}});
    for (const WriteCacheReport::Row& row : report.rows) {
      json["rows"].push_back({row.what, row.figure, row.interval});
    }
  }
  return list;
}

Json to_json(const ReportedResult& reported, const std::string& name, const PageDetail& detail) {
  const Result& result = reported.result;
  Json json = {{"name", name},
               {"file", reported.file},
               {"label", result.label},
               {"note", result.note},
               {"started", result.started},
               {"version", result.version},
               {"complete", result.complete},
               {"incomplete", incomplete_text(result)},
               {"host", result.host},
               {"plan", plan_json(result)},
               {"drives", drives_text(result)},
               {"volumes", Json::array()},
               {"warnings", result.warnings},
               {"baselines", baselines_data(result)},
               {"write_caches", write_caches_data(result)},
               {"all_measurements", result.measurements.size()},
               {"measurements", Json::array()}};
  for (const VolumeDescription& volume : result.volumes) json["volumes"].push_back(to_json(volume));
  json["control"] = Json::array();
  for (const Result& control : result.control) {
    for (const VolumeDescription& volume : control.volumes) {
      json["control"].push_back(to_json(volume));
    }
  }
  for (const Measurement& measurement : result.measurements) {
    if (measurement.samples.empty()) continue;
    json["measurements"].push_back(to_json(result, measurement, detail));
  }
  return json;
}

Json scores(std::span<const ReportedResult> results) {
  Json list = Json::array();
  for (const Score& score : scores_of(results)) {
    list.push_back({{"result", score.result},
                    {"operation", score.operation},
                    {"file_system", score.file_system},
                    {"sets", score.sets},
                    {"rate", score.rate},
                    {"of_files", score.of_files}});
  }
  return list;
}

Json metrics_data() {
  Json list = Json::array();
  for (const Metric& metric : metrics()) {
    list.push_back({{"name", metric.name},
                    {"title", metric.title},
                    {"heading", metric.heading},
                    {"unit", unit_name(metric.unit)},
                    {"rate", is_rate(metric.unit)},
                    {"more", metric.more_is_better}});
  }
  return list;
}

// The marks of a row, and the metrics that they belong to.
Json standings_data(const RowStandings& row) {
  Json json = {{"standings", row.by_series}, {"tested", Json::array()}};
  if (!row.other_work.empty()) json["other_work"] = row.other_work;
  for (const Metric& metric : metrics()) {
    if (!row.by_series.empty() && row.shows(metric)) json["tested"].push_back(metric.name);
  }
  return json;
}

// The index of each measurement in its result's list.
using Places = std::map<const Measurement*, std::size_t>;

Places places_of(const Result& result) {
  Places places;
  for (const Measurement& measurement : result.measurements) {
    if (!measurement.samples.empty()) places.emplace(&measurement, places.size());
  }
  return places;
}

Json overview_data(std::span<const ReportedResult> results, const Overview& overview,
                   const Standings& standings) {
  std::vector<Places> places;
  for (const ReportedResult& reported : results) places.push_back(places_of(reported.result));
  Json json = {{"series", Json::array()}, {"rows", Json::array()}, {"views", Json::array()}};
  for (const Series& series : overview.series) {
    json["series"].push_back(
        {{"result", series.result}, {"file_system", series.file_system}, {"name", series.name}});
  }
  const Parameters shared = shared_replay_of(overview.rows);
  for (std::size_t i = 0; i < overview.rows.size(); ++i) {
    const OverviewRow& row = overview.rows[i];
    Parameters parameters = row.first->parameters;
    for (auto& one : own_replay(row.key, shared)) parameters.push_back(std::move(one));
    Json cells = Json::array();
    for (std::size_t s = 0; s < row.cells.size(); ++s) {
      const Places& of_result = places[overview.series[s].result];
      cells.push_back(row.cells[s] ? Json(of_result.at(row.cells[s])) : Json(nullptr));
    }
    json["rows"].push_back({{"subject", subject_of(row, overview)},
                            {"workload", row.key.workload},
                            {"set", row.key.set},
                            {"operation", row.key.operation},
                            {"parameters", std::move(parameters)},
                            {"cells", std::move(cells)},
                            {"metric", row.metric->name}});
    if (!standings.rows.empty()) json["rows"].back().update(standings_data(standings.rows[i]));
  }
  for (const ReportView& view : views_of(results, overview)) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < overview.rows.size(); ++i) {
      if (is_selected(view, *overview.rows[i].first)) rows.push_back(i);
    }
    json["views"].push_back({{"title", view.title},
                             {"text", view.text},
                             {"form", view.form},
                             {"metrics", view.metrics},
                             {"by", view.by},
                             {"at", view.at},
                             {"rows", std::move(rows)}});
  }
  return json;
}

}  // namespace

std::string report_data(ReportColumns columns, std::span<const StoredPrediction> predictions) {
  const std::vector<ReportedResult>& results = columns.pooled();
  const std::vector<std::string> names = result_names(results);
  const PageDetail detail = detail_for(results);
  Json json = {{"results", Json::array()}, {"latency_bins", latency_bins()}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    json["results"].push_back(to_json(results[i], names[i], detail));
  }
  json["predictions"] = predictions_data(predictions);
  columns.keep_figures();
  const Conclusions conclusions = conclusions_of(columns, predictions);
  if (conclusions.comparison) json["comparison"] = comparison_data(*conclusions.comparison);
  json["scores"] = scores(results);
  json["metrics"] = metrics_data();
  json.update(overview_data(results, conclusions.overview, conclusions.standings));
  json["findings"] = conclusions.findings;
  if (conclusions.shows_ranking()) json["ranking"] = ranking_data(conclusions.standings);
  json["differences"] = differences_data(conclusions.standings);
  json["indexes"] = indexes_data(conclusions.overview, conclusions.standings);
  return script_safe(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string script_safe(std::string_view json) {
  constexpr std::string_view kLineSeparator = "\xe2\x80\xa8", kParagraphSeparator = "\xe2\x80\xa9";
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (json[i] == '<') {
      safe += "\\u003c";
    } else if (json[i] == '>') {
      safe += "\\u003e";
    } else if (json[i] == '&') {
      safe += "\\u0026";
    } else if (rest.starts_with(kLineSeparator) || rest.starts_with(kParagraphSeparator)) {
      safe += rest.starts_with(kLineSeparator) ? "\\u2028" : "\\u2029";
      i += kLineSeparator.size() - 1;
    } else {
      safe += json[i];
    }
  }
  return safe;
}

namespace {

// Escapes text for an element. The browser shows invalid UTF-8 as a replacement character.
std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string title_of(std::span<const ReportedResult> results) {
  constexpr std::size_t kNamed = 3;
  std::string title;
  const std::vector<std::string> names = result_names(results);
  for (std::size_t i = 0; i < names.size() && i < kNamed; ++i) {
    title += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kNamed) title += fmt::format(" and {} more", names.size() - kNamed);
  return title;
}

std::string title_of(std::span<const StoredPrediction> predictions) {
  const std::vector<std::string> names = program_names(predictions);
  return names.size() == 1
             ? "Prediction of " + names[0]
             : fmt::format("Predictions of {} and {} more", names[0], names.size() - 1);
}

}  // namespace

std::string html_report(ReportColumns columns, std::span<const StoredPrediction> predictions) {
  const std::string title =
      predictions.empty() ? title_of(columns.pooled()) : title_of(predictions);
  return html_page(title, report_data(std::move(columns), predictions));
}

std::string html_page(std::string_view page_title, std::string_view page_data) {
  constexpr std::string_view kTitle = "@TITLE@", kData = "@DATA@";
  const std::string_view page = report_page();
  const std::size_t title = page.find(kTitle), data = page.find(kData);
  std::string html(page.substr(0, title));
  html += html_text(printable(page_title));
  html += page.substr(title + kTitle.size(), data - title - kTitle.size());
  html += page_data;
  html += page.substr(data + kData.size());
  return html;
}

}  // namespace filereel
