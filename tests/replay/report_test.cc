#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "replay/compare/prediction.h"
#include "replay/compare/prediction_text.h"
#include "replay/json.h"
#include "replay/report/conclusions.h"
#include "replay/report/figures.h"
#include "replay/report/html_report.h"
#include "replay/report/ranking_data.h"
#include "replay/report/text_reports.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<ReportedResult> just(Result result) {
  return {{"drive.json", std::move(result)}};
}

constexpr std::string_view kHostile = "</script><script>alert(1)</script><!-- \u2028 & \xff\"'";

Result hostile_result() {
  Result result = sample_result();
  result.label = result.note = result.started = kHostile;
  result.warnings = {{std::string(kHostile), std::string(kHostile), std::string(kHostile)}};
  for (Measurement& measurement : result.measurements) {
    measurement.set = measurement.operation = measurement.file_system = measurement.driver =
        kHostile;
  }
  for (VolumeDescription& volume : result.volumes) volume.target = volume.mount_options = kHostile;
  result.volumes[0].network.emplace().source = kHostile;
  return result;
}

TEST_CASE("data for a script cannot end it, open a comment or end a line") {
  CHECK(script_safe("\"</script><!--&\u2028\u2029\"") ==
        "\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\\u2029\"");
  CHECK(script_safe("\"\u2027\u202a\"") == "\"\u2027\u202a\"");
  CHECK(script_safe("\"\xe2\x80") == "\"\xe2\x80");  // a torn character is passed on
  const std::string data = report_data(just(hostile_result()));
  CHECK(data.find_first_of("<>&\n") == std::string::npos);
  CHECK_FALSE(data.contains("\u2028"));
  CHECK(Json::parse(data)["results"][0]["label"].get<std::string>().contains(
      "</script><script>alert(1)</script><!-- \u2028 & "));
}

TEST_CASE("a hostile result adds no markup to the page") {
  const std::string clean = html_report(just(sample_result()));
  const std::string hostile = html_report(just(hostile_result()));
  const auto count = [](const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  for (const std::string_view mark : {"<script", "</script", "<!--", "alert(1)</"}) {
    CHECK(count(hostile, mark) == count(clean, mark));
  }
  CHECK(count(clean, "<script") == 3);
}

TEST_CASE("the page allows only its own scripts") {
  const std::string page = html_report(just(sample_result()));
  CHECK(page.contains("default-src 'none'; script-src 'sha256-"));
  CHECK_FALSE(page.contains("unsafe-inline"));
  CHECK_FALSE(page.contains("@DATA@"));
  CHECK_FALSE(page.contains("_HASH@"));
  CHECK(page.contains("Chart.js 3.9"));
  CHECK(page.contains("Permission is hereby granted, free of charge"));
  CHECK(page.contains("<title>Fast Disk 3 1.07"));
}

TEST_CASE("figures of a page are those of the summaries") {
  const Result result = sample_result();
  const Json data = Json::parse(report_data(just(result)));
  const Json& measurements = data["results"][0]["measurements"];
  REQUIRE(measurements.size() == result.measurements.size());
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const Summary summary = result.measurements[i].summary();
    const Json& figures = measurements[i]["figures"];
    CHECK(figures.contains("mb_per_s") == summary.mb_per_s.has_value());
    CHECK(figures.contains("files_per_s") == summary.files_per_s.has_value());
    if (!summary.mb_per_s) continue;
    CHECK(figures["mb_per_s"][0] == summary.mb_per_s->median);
    CHECK(figures["mb_per_s"][1] == summary.mb_per_s->low);
    CHECK(figures["mb_per_s"][2] == summary.mb_per_s->high);
  }
  CHECK(measurements[1]["samples"][0]["moved_no_data"] == true);
  CHECK(measurements[3]["samples"][0]["failed"] == true);
}

TEST_CASE("results are called by their labels, else by their drives, and no two alike") {
  std::vector<ReportedResult> results(5);
  results[0].result = results[1].result = sample_result();
  results[2].result.label = "new firmware";
  results[3].result.started = "2024-02-29T12:00:00Z";
  results[4].result.label = "Fast Disk 3 1.07 (2)";
  const std::vector<std::string> names = result_names(results);
  CHECK(names == std::vector<std::string>{"Fast Disk 3 1.07", "Fast Disk 3 1.07 (2)",
                                          "new firmware", "2024-02-29T12:00:00Z",
                                          "Fast Disk 3 1.07 (2) (2)"});
}

TEST_CASE("a set has the name of its job unless that is the name of its kind") {
  CHECK(title_of({.job = "fc-test", .set = "mp3"}) == "mp3");
  CHECK(title_of({.job = "trace", .set = "mp3"}) == "trace mp3");
  CHECK(title_of({.job = "app.reel"}) == "app.reel");
}

TEST_CASE("a result of a share is called by its source") {
  Result result = sample_result();
  result.volumes = {network_volume()};
  const std::vector<ReportedResult> results = {{"nas.json", result}};
  CHECK(result_names(results) == std::vector<std::string>{"nas.example.org:/data"});
  CHECK(markdown_report(results).contains("near /mnt/nas/test on nas.example.org:/data"));
  const Json data = Json::parse(report_data(results));
  CHECK(data["results"][0]["volumes"][0]["network"]["protocol"] == "nfs 4.2");
}

TEST_CASE("two results come with their comparison, others with none") {
  std::vector<ReportedResult> results(2, {"drive.json", sample_result()});
  for (Sample& sample : results[1].result.measurements[0].samples) sample.durable_s *= 2;
  results[1].result.label = "after";
  const Json data = Json::parse(report_data(results));
  const Json& comparison = data["comparison"];
  CHECK(comparison["fresh"] == "after");
  CHECK(comparison["measurements"][0]["key"] == "fc-test iso create ext4");
  CHECK(comparison["measurements"][0]["fresh"] == doctest::Approx(5));
  results.pop_back();
  CHECK_FALSE(Json::parse(report_data(results)).contains("comparison"));
}

TEST_CASE("marks of two results are the verdicts of their comparison") {
  std::vector<ReportedResult> results(2, {"drive.json", sample_replay()});
  results[1].result.label = "after";
  const ReportColumns columns(results);
  const Overview overview = overview_of(columns.pooled());
  REQUIRE(overview.series.size() == 2);
  Standings standings = standings_of(columns, overview);
  ResultComparison comparison = compare_results(columns.sessions(0), columns.sessions(1));
  REQUIRE_FALSE(comparison.measurements.empty());
  ComparedMeasurement& compared = comparison.measurements.front();
  const Metric& tested = *find_metric("durable_s");
  compared.figure = Figure::durable;
  compared.comparable = true;
  const auto marks = [&](Verdict verdict, std::optional<Verdict> indicated) {
    compared.time.verdict = verdict;
    compared.time.indicated = indicated;
    follow_comparison(comparison, overview, standings);
    return std::pair(standings.rows[0].of(0, tested), standings.rows[0].of(1, tested));
  };
  CHECK(marks(Verdict::slower, {}) == std::pair(Standing::best, Standing::none));
  CHECK(marks(Verdict::faster, {}) == std::pair(Standing::none, Standing::best));
  CHECK(marks(Verdict::cannot_tell, Verdict::slower) ==
        std::pair(Standing::indicated, Standing::none));
  CHECK(marks(Verdict::same, {}) == std::pair(Standing::none, Standing::none));
}

TEST_CASE("of three results the page and Markdown say what is proven, of two the comparison") {
  std::vector<ReportedResult> results(3, {"drive.json", sample_replay()});
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].result.label = std::string(1, static_cast<char>('A' + i));
  }
  const Json data = Json::parse(report_data(results));
  REQUIRE(data.contains("ranking"));
  const Json& first = data["ranking"]["measurements"].at(0);
  CHECK(first["ranks"].size() == 3);
  const std::string text = markdown_report(results);
  CHECK(text.contains("## What is proven\n\n"));
  CHECK(text.contains(first["conclusion"].get<std::string>()));
  CHECK(text.contains("## Common to all\n\n- repetitions: "));
  results.pop_back();
  CHECK_FALSE(Json::parse(report_data(results)).contains("ranking"));
  CHECK_FALSE(markdown_report(results).contains("## What is proven"));
}

TEST_CASE("a report of predictions alone has no second answer, and tells them apart") {
  StoredPrediction stored{.program = {.reel = "app.reel", .command = "app", .recorded_s = 1.5}};
  stored.volumes = {{.name = "/mnt/a", .file_system = "ext4", .seconds = {1, 1, 1, 1, 1, 1}},
                    {.name = "/mnt/b", .file_system = "xfs", .seconds = {2, 2, 2, 2, 2, 2}}};
  stored.prediction = predict_times(stored.volumes, kReplayAccuracy, 0.01);
  stored.results = {sample_replay(), sample_replay()};
  const std::vector<StoredPrediction> two(2, stored);
  std::vector<ReportedResult> results(2, {"a", sample_replay()});
  results[1].result.label = "b";
  const std::string text = markdown_report(results, {&stored, 1});
  CHECK_FALSE(text.contains("## Comparison"));
  CHECK_FALSE(Json::parse(report_data(results, {&stored, 1})).contains("comparison"));
  CHECK(program_names(two) == std::vector<std::string>{"app (app.reel)", "app (app.reel) (2)"});
  CHECK(markdown_report(results, two).contains("| expected time | /mnt/a (ext4) |"));
}

ComparedMeasurement compared(const std::string& workload, double ratio, Verdict verdict) {
  ComparedMeasurement one;
  one.key.workload = workload;
  one.key.file_system = "ext4";
  one.time.ratio = ratio;
  one.evidence = fmt::format("{} times the time", ratio);
  one.verdict = verdict;
  return one;
}

TEST_CASE("slower measurements come first, the largest change first") {
  std::vector<ReportedResult> results(2, {"drive.json", sample_replay()});
  ResultComparison comparison;
  comparison.base_name = "before";
  comparison.fresh_name = "after";
  comparison.measurements = {
      compared("a", 0.1, Verdict::faster), compared("b", 1.1, Verdict::slower),
      compared("c", 1.5, Verdict::cannot_tell), compared("d", 2.7, Verdict::slower)};
  comparison.overall = Verdict::slower;
  const std::string b = key_text(comparison.measurements[1].key);
  const std::string d = key_text(comparison.measurements[3].key);
  std::vector<std::string> findings = findings_of(results, &comparison);
  REQUIRE(findings.size() > 4);
  CHECK(findings[0] == "after is slower than before in 2 of 4 measurements, and faster in 1.");
  CHECK(findings[1] == d + " is slower with after than with before: 2.7 times the time.");
  CHECK(findings[2].starts_with(b + " is slower"));
  CHECK(findings[3].contains("is faster with after than with before: 0.1 times"));
  CHECK(findings[4].contains("took 2.00 s on Fast Disk 3"));

  comparison.measurements.push_back(compared("e", 1.2, Verdict::slower));
  findings = findings_of(results, &comparison);
  CHECK(findings[3].starts_with(b + " is slower"));
  CHECK(findings[4] == "Others: 0 slower, 1 faster.");
  CHECK(findings_of(results, nullptr, "All are alike.").front() == "All are alike.");
  CHECK_FALSE(findings_of(results).front().contains("slower"));
}

TEST_CASE("the conclusion of an undecided comparison names what is indicated") {
  const std::vector<ReportedResult> results(2, {"drive.json", sample_replay()});
  ResultComparison comparison;
  comparison.base_name = "before";
  comparison.fresh_name = "after";
  comparison.measurements = {compared("a", 0.9, Verdict::cannot_tell),
                             compared("b", 1, Verdict::same)};
  const auto first = [&] { return findings_of(results, &comparison).front(); };
  constexpr std::string_view kUnknown =
      "Cannot tell whether after is slower or faster than before in 1 of 2 measurements";
  CHECK(first() == fmt::format("{}.", kUnknown));
  comparison.measurements[0].time.indicated = Verdict::faster;
  CHECK(first() == fmt::format("{}; indicated, but not proven: faster in 1.", kUnknown));
}

TEST_CASE("the stalls of a page of two results are those of the comparison") {
  const std::vector<ReportedResult> results(2, {"drive.json", sample_replay()});
  ResultComparison comparison;
  comparison.base_name = "before";
  comparison.fresh_name = "after";
  comparison.measurements = {compared("a", 1.5, Verdict::slower)};
  ComparedStalls& stalls = comparison.measurements[0].stalls.emplace();
  stalls.threshold_us = 10'000;
  stalls.base = {.stalls = 2, .operations = 1000, .share_of_time = 0.02};
  stalls.fresh = {.stalls = 553, .operations = 1000, .share_of_time = 0.97};
  const auto is_of_stalls = [](const std::string& one) { return one.contains("in stalls"); };
  const auto count = [&](const ResultComparison* of) {
    return std::ranges::count_if(findings_of(results, of), is_of_stalls);
  };
  CHECK(count(&comparison) == 1);
  const std::vector<std::string> findings = findings_of(results, &comparison);
  CHECK(
      *std::ranges::find_if(findings, is_of_stalls) ==
      "Largest share of time in stalls: after, " + key_text(comparison.measurements[0].key) +
          ": 553 operations of 10 ms or more and far longer than usual for their kind, 55 % of the "
          "operations and 97 % of the time in calls.");
  comparison.measurements[0].stalls.reset();
  CHECK(count(&comparison) == 0);
}

TEST_CASE("Markdown has the conclusions and the comparison of the page") {
  std::vector<ReportedResult> results(2, {"drive.json", sample_result()});
  for (Sample& sample : results[1].result.measurements[0].samples) sample.durable_s *= 2;
  results[1].result.label = "after";
  const std::string text = markdown_report(results);
  const Json data = Json::parse(report_data(results));
  for (const auto& finding : data["findings"]) {
    const std::string sentence = finding.get<std::string>();
    CHECK(text.contains("\n- " + sentence.substr(0, sentence.find_first_of("|<>_-~"))));
  }
  CHECK(text.contains("\n## Comparison\n\nBase: Fast Disk 3 1.07; new: after. Overall: "));
  CHECK(text.contains("| fc-test iso create ext4 | cannot tell |"));
  CHECK_FALSE(markdown_report(just(sample_result())).contains("## Comparison"));
}

TEST_CASE("Markdown has predictions") {
  StoredPrediction stored{.program = {.reel = "app.reel", .command = "app", .recorded_s = 1.5}};
  stored.volumes = {{.name = "/mnt/a", .file_system = "ext4", .seconds = {1, 1, 1, 1, 1, 1}},
                    {.name = "/mnt/b", .file_system = "xfs", .obstacle = "the disk is full"}};
  stored.prediction = predict_times(stored.volumes, kReplayAccuracy, 0.01);
  const std::string text = markdown_report(just(sample_replay()), {&stored, 1});
  CHECK(text.contains("## Prediction of app\n\nRecorded as app.reel in 1.50 s. "));
  CHECK(text.contains("| volume | rank | expected time | 95 %, sessions |"));
  CHECK(text.contains("| /mnt/a (ext4) |"));
  CHECK(text.contains("- /mnt/b (xfs): no prediction: the disk is full"));
}

TEST_CASE("a result that failed or ended early comes before conclusions about speed") {
  std::vector<ReportedResult> results(2, {"drive.json", sample_replay()});
  results[0].result.label = "large sectors";
  for (Sample& sample : results[0].result.measurements[0].samples) {
    sample.failed_calls = {{"near", "write", "EINVAL", 40}};
  }
  results[1].result.label = "early";
  results[1].result.complete = false;
  const std::vector<std::string> findings = findings_of(results, nullptr, "All are alike.");
  REQUIRE(findings.size() > 2);
  CHECK(
      findings[0].starts_with("large sectors failed in 1 of 1 measurement, which is not "
                              "compared: app on "));
  CHECK(findings[0].contains("write on "));
  CHECK(findings[1] ==
        "early is incomplete: the run ended early, with 3 runs of each measurement.");
  CHECK(findings[2] == "All are alike.");
  CHECK(markdown_report(results).contains("| app (failed)"));
  CHECK(Json::parse(report_data(results))["results"][0]["measurements"][0]["failed"] == true);
}

TEST_CASE("a directory has one name, however it was named") {
  std::vector<ReportedResult> results(2, {"drive.json", sample_replay()});
  for (ReportedResult& reported : results) {
    reported.result.volumes.resize(1);
    reported.result.volumes.front().drives.clear();
    reported.result.volumes.front().target_kind = "directory";
    reported.result.label.clear();
  }
  results[0].result.volumes.front().target = "cand";
  results[1].result.volumes.front().target = "/mnt/one/cand";
  CHECK(result_names(results) == std::vector<std::string>{"/mnt/one/cand", "/mnt/one/cand (2)"});
  const std::vector<std::string> apart = {"cand", "/mnt/one/cand"};
  SUBCASE("another size") {
    results[1].result.volumes.front().size += 1;
  }
  SUBCASE("another drive without a model") {
    results[0].result.volumes.front().drives.emplace_back().name = "vda";
    results[1].result.volumes.front().drives.emplace_back().name = "vdb";
  }
  SUBCASE("other mount options") {
    results[1].result.volumes.front().mount_options += ",sync";
  }
  CHECK(result_names(results) == apart);
}

TEST_CASE("the interrupted run says what is missing") {
  Result result = sample_replay();
  CHECK(incomplete_text(result).empty());
  result.complete = false;
  result.plan.file_systems = {"ext4", "xfs"};
  CHECK(incomplete_text(result) ==
        "the run ended early, with 3 runs of each measurement; not measured: xfs");
  Measurement& left = result.measurements.emplace_back(result.measurements.front());
  left.operation = "delete";
  left.kind = JobKind::workload;
  left.samples.clear();
  const std::string text = incomplete_text(result);
  CHECK(
      text.starts_with("the run ended early, with 3 runs of each measurement; not measured: xfs"));
  CHECK(text.contains(", " + left.workload + " delete on " + left.file_system));
}

TEST_CASE("stalls of recorded traces are told without the parameters that all share") {
  const std::vector<ReportedResult> results(2, {"drive.json", sample_replay()});
  ResultComparison comparison;
  comparison.base_name = "before";
  comparison.fresh_name = "after";
  comparison.measurements = {compared("a", 1.5, Verdict::slower)};
  comparison.measurements[0].key = key_of(sample_replay().measurements[0]);
  ComparedStalls& stalls = comparison.measurements[0].stalls.emplace();
  stalls.fresh = {.stalls = 553, .operations = 1000, .share_of_time = 0.97};
  for (const std::string& finding : findings_of(results, &comparison)) {
    CHECK_FALSE(finding.contains("order="));
  }
}

Measurement steady(const std::string& set, const std::string& operation,
                   const std::string& file_system, double mb_per_s) {
  Measurement measurement = measurement_of(set, operation, file_system, "kernel");
  measurement.samples = {sample_of(1, 1, 1, static_cast<std::uint64_t>(mb_per_s * 1e6), 10)};
  return measurement;
}

TEST_CASE("the means of a single set are no finding, and none of incomplete results") {
  Result result;
  result.complete = true;
  result.measurements = {steady("a", "read", "ext4", 100), steady("a", "read", "xfs", 90)};
  for (const std::string& finding : findings_of(just(result)))
    CHECK_FALSE(finding.contains("mean"));
  CHECK(Json::parse(report_data(just(result)))["scores"].empty());
  result.complete = false;
  CHECK(scores_of(just(result)).empty());
}

TEST_CASE("shares of kinds are of all samples, most time first") {
  Measurement measurement = measurement_of("iso", "read", "ext4", "kernel");
  for (int i = 0; i < 2; ++i) {
    Sample& sample = measurement.samples.emplace_back();
    sample.latency["open"] = {.count = 30, .total_us = 100};
    sample.latency["read"] = {.count = 10, .bytes = 4096, .total_us = 300};
    sample.latency["close"] = {};
  }
  const std::vector<KindShare> kinds = shares_of_kinds(measurement);
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].kind == "read");
  CHECK(kinds[0].count == 20);
  CHECK(kinds[0].bytes == 8192);
  CHECK(kinds[0].share_of_time == doctest::Approx(0.75));
  CHECK(kinds[0].share_of_calls == doctest::Approx(0.25));
  CHECK(kinds[0].seconds == doctest::Approx(600e-6));
}

TEST_CASE("scores are geometric means over the sets that all have measured") {
  Result result;
  result.complete = true;
  result.measurements = {steady("a", "read", "ext4", 100), steady("b", "read", "ext4", 400),
                         steady("a", "read", "xfs", 90),   steady("b", "read", "xfs", 360),
                         steady("c", "read", "xfs", 9000), steady("a", "create", "xfs", 1)};
  const std::vector<Score> scores = scores_of(just(result));
  REQUIRE(scores.size() == 2);  // "create" is of one set: no mean
  CHECK(scores[0].rate == doctest::Approx(200));
  CHECK(scores[0].best);
  CHECK(scores[1].file_system == "xfs");
  CHECK(scores[1].sets == 2);
  CHECK(scores[1].rate == doctest::Approx(180));
  CHECK_FALSE(scores[1].best);
  CHECK(findings_of(just(result)).front() ==
        "ext4 has the highest mean over the file sets in 1 of 1 operation (not tested).");
}

TEST_CASE("the page of one drive begins with its main figures") {
  Result result;
  result.complete = true;
  result.measurements = {steady("a", "read", "ext4", 100), steady("b", "read", "ext4", 400)};
  CHECK(findings_of(just(result)).front() == "Measured: read a 100 MB/s; read b 400 MB/s.");
}

TEST_CASE("a replay's finding has its time and differences") {
  const std::vector<std::string> findings = findings_of(just(sample_replay()));
  REQUIRE_FALSE(findings.empty());
  CHECK(findings.front() == "app took 2.00 s on ext4; 9 of 15000 results differ in 3 runs.");
}

TEST_CASE("a replay that ended early is not the typical one, unless all did") {
  Measurement replay = sample_replay().measurements[0];
  replay.samples.resize(2);
  replay.samples[1].reel->ended_early = true;
  CHECK(typical_sample(replay)->run == 1);
  replay.samples[0].reel->ended_early = true;
  CHECK(typical_sample(replay)->run == 2);
  replay.samples.clear();
  CHECK(typical_sample(replay) == nullptr);
}

TEST_CASE("samples become rows of as many cells as the first row has names") {
  Result result = sample_result();
  result.label = "=1+1,\"x\"\ny";
  const std::string csv = samples_csv(just(result));
  CHECK(csv.starts_with("result,label,file,started,complete,drives,targets,workload,set,"));
  // The label is quoted, its quotes doubled, and no formula.
  CHECK(csv.contains("\n\"'=1+1,\"\"x\"\"\ny\","));
  result.label = "plain";
  const std::vector<std::string> lines = lines_of(samples_csv(just(result)));
  CHECK(lines.size() == 1 + 3 + 1 + 1 + 1);
  const auto cells = [](const std::string& line) { return std::ranges::count(line, ',') + 1; };
  for (const std::string& line : lines) CHECK(cells(line) == cells(lines[0]));
  CHECK(
      lines[1].starts_with("plain,plain,drive.json,2024-02-29T12:00:00Z,1,Fast Disk 3 1.07,near "));
  CHECK(lines[1].contains(",fc-test,iso,create,ext4,kernel,,"));
  CHECK(lines[1].contains(",1,1,1,2,800000000,3,9,400,,400,800,1.5,,"));
  CHECK(lines[1].ends_with(",0.125,0.5,0.0625,4096,801000000,0.25,0,0,0,"));
  CHECK(lines[4].ends_with(",,,,1,0,0,no data moved"));  // not known how cached
  CHECK(lines.back().ends_with(",1,1,failed"));
  result.measurements[0].samples[0].conditions.stops = 1;
  CHECK(lines_of(samples_csv(just(result)))[1].ends_with(",0,0,1,filereel was stopped"));
}

TEST_CASE("Markdown has one table and marks incomplete results") {
  Result result = sample_result();
  result.complete = false;
  result.label = "a|b <i>";
  const std::string text = markdown_report(just(result));
  CHECK(text.contains("## a\\|b \\<i\\>\n\n| measurement | on | MB/s |"));
  CHECK(text.contains("\n**Incomplete: "));
  CHECK(text.contains("| create iso | ext4 | 320 (200–400) |"));
  CHECK(text.contains("| copy-far müsic | ext4 | no data moved |"));
  CHECK(text.contains("- warning: ntfs was served by ntfs-3g (fuse-driver); use another kernel"));
  for (const std::string& line : lines_of(markdown_report(just(hostile_result())))) {
    for (std::size_t at = line.find('<'); at != std::string::npos; at = line.find('<', at + 1)) {
      CHECK((at > 0 && line[at - 1] == '\\'));
    }
  }
}

TEST_CASE("sweeps become a row of Markdown for each point") {
  const std::string text = markdown_report(just(sample_sweep()));
  CHECK(text.contains("| reads.yaml read, size 1 MiB, depth 4 |"));
}

TEST_CASE("shares are percentages") {
  CHECK(share_text(0.345) == "34 %");
}

TEST_CASE("figures that are not numbers are left out of the page") {
  Result result = sample_result();
  result.measurements[0].samples[0].elapsed_s = std::numeric_limits<double>::quiet_NaN();
  result.measurements[0].samples[0].durable_s = std::numeric_limits<double>::infinity();
  const Json data = Json::parse(report_data(just(result)));
  CHECK(data["results"][0]["measurements"][0]["samples"][0]["elapsed_s"].is_null());
}

TEST_CASE("an empty result still gives a page") {
  Result result;
  CHECK(html_report(just(result)).contains("report-data"));
  CHECK(lines_of(samples_csv(just(result))).size() == 1);
  CHECK(markdown_report(just(result)).contains("**Incomplete"));
}

}  // namespace
}  // namespace filereel
