#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/kept_file.h"
#include "tests/sample_result.h"
#include "tools/cli/job_tables.h"
#include "tools/cli/result_table.h"
#include "tools/cli/run_options.h"

namespace filereel {
namespace {

std::string plain(const std::string& text) {
  return text;
}

TEST_CASE("a sweep of two axes is shown as matrices, as in the golden file") {
  CHECK(format_result(sample_sweep(), plain) == kept_file("tools/golden/sweep.txt"));
}

TEST_CASE("a workload without a sweep has a row for each phase and columns for what there is") {
  Result result = sample_sweep();
  result.plan.jobs[0].axes.clear();
  result.measurements.resize(2);
  for (Measurement& measurement : result.measurements) measurement.parameters.clear();
  result.measurements[1].operation = "again";
  result.complete = true;
  const std::string text = format_result(result, plain);
  CHECK(text.contains("\nreads.yaml"));
  CHECK(text.contains("\nread"));
  CHECK(text.contains("\nagain"));
  CHECK(text.contains("read p99"));
  CHECK_FALSE(text.contains("write p99"));
  CHECK_FALSE(text.contains("files/s"));
  CHECK_FALSE(text.contains("INCOMPLETE"));
}

TEST_CASE("one axis has a row for each value, also for those that were not measured") {
  Result result = sample_sweep();
  result.plan.jobs[0].axes = {{"depth", {"1", "4", "16", "64"}}};
  result.measurements.resize(3);
  for (Measurement& measurement : result.measurements)
    measurement.parameters.erase(measurement.parameters.begin());
  const std::string text = format_result(result, plain);
  CHECK(text.contains("\ndepth"));
  CHECK(text.contains("\n16"));
  CHECK(text.contains("\n64"));
}

TEST_CASE("more axes are headings over the matrices of the last two") {
  Result result = sample_sweep();
  result.plan.jobs[0].axes.insert(result.plan.jobs[0].axes.begin(), {"threads", {"1", "2"}});
  for (Measurement& measurement : result.measurements) {
    measurement.parameters.insert(measurement.parameters.begin(), {"threads", "2"});
  }
  const std::string text = format_result(result, plain);
  CHECK(text.contains("read, threads 2: operations/s\n"));
  CHECK(text.contains("read, threads 2: MB/s\n"));
}

TEST_CASE("several clients have a table below those of any kind of job") {
  for (Result result : {sample_result(), sample_sweep()}) {
    CHECK_FALSE(format_result(result, plain).contains("first ended"));
    ClientFigures slow{.host = "a", .elapsed_s = 4, .bytes = 8'000'000};
    ClientFigures fast{.host = "b", .elapsed_s = 2, .bytes = 8'000'000};
    result.measurements[0].samples[0].clients = ClientsSample{.start_skew_us = 12,
                                                              .first_ended_s = 2,
                                                              .first_ended_bytes = 12'000'000,
                                                              .each = {slow, fast}};
    const std::string text = format_result(result, plain);
    CHECK(text.contains("\n2 clients on 2 hosts\n"));
    const std::string row = text.substr(text.find("6.00 "));
    CHECK(row.starts_with("6.00        50 %      90 %       12 µs\n"));
  }
}

TEST_CASE("wide matrices go on below, and no line is too long") {
  Result result = sample_sweep();
  std::vector<std::string>& depths = result.plan.jobs[0].axes[1].values;
  while (depths.size() < 40) depths.push_back(std::to_string(depths.size() * 100));
  const std::string text = format_result(result, plain);
  std::istringstream lines(text.substr(0, text.find("1 run each")));
  std::size_t headings = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.size() <= 100);
    if (line.starts_with("size \\ depth")) ++headings;
  }
  CHECK(headings > 2);
}

TEST_CASE("files of what somebody else wrote cannot command the terminal") {
  Result result = sample_sweep();
  result.plan.jobs[0].axes[0].values[0] = "\x1b[31m";
  result.measurements[0].parameters[0].second = "\x1b[31m";
  result.measurements[0].operation = "a\nb";
  CHECK_FALSE(format_result(result, plain).contains("\x1b"));
}

TEST_CASE("sweeps of the command line are a key and its values") {
  const SweepArgument sweep = parse_sweep("depth=1, 4,16");
  CHECK(sweep.key == "depth");
  CHECK(sweep.values == std::vector<std::string>{"1", "4", "16"});
  CHECK(parse_sweep("a={from: 1, to: 8, times: 2}").values.size() == 1);
  for (const char* bad : {"", "depth", "=1", "depth=", "depth=1,,2"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_sweep(bad), Error);
  }
}

}  // namespace
}  // namespace filereel
