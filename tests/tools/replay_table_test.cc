#include <string>

#include <doctest/doctest.h>

#include "tests/kept_file.h"
#include "tests/sample_result.h"
#include "tools/cli/job_tables.h"
#include "tools/cli/result_table.h"

namespace filereel {
namespace {

std::string plain(const std::string& text) {
  return text;
}

TEST_CASE("a replay is shown as in the golden file") {
  CHECK(format_result(sample_replay(), plain) == kept_file("tools/golden/replay.txt"));
}

TEST_CASE("metadata operations have no bytes and no speed in the table") {
  const std::string text = format_result(sample_replay(), plain);
  const std::size_t row = text.find("rename ");
  REQUIRE(row != std::string::npos);
  const std::string line = text.substr(row, text.find('\n', row) - row);
  CHECK_FALSE(line.contains(" B"));
  CHECK_FALSE(line.contains("MB"));
}

TEST_CASE("a replay without divergences says so, one that was interrupted too") {
  Result result = sample_replay();
  result.complete = false;
  for (Sample& sample : result.measurements[0].samples) {
    sample.divergences = 0;
    sample.examples.clear();
    sample.reel->divergences.clear();
    sample.tree->differences = 0;
    sample.tree->examples.clear();
  }
  const std::string text = format_result(result, plain);
  CHECK(text.contains("all results match the trace"));
  CHECK(text.contains("the tree matches the trace: 40 entries"));
  CHECK(text.contains("INCOMPLETE"));
}

TEST_CASE("transactions are shown where there are some") {
  Result result = sample_replay();
  CHECK_FALSE(format_result(result, plain).contains("transactions"));
  for (Sample& sample : result.measurements[0].samples) sample.transactions = 6'000;
  const std::string text = format_result(result, plain);  // in 1, 2 and 3 s
  CHECK(text.contains("transactions/s"));
  CHECK(text.contains("3000\n"));
  CHECK(text.contains("2000–6000\n"));
  CHECK(text.contains("transactions 6000, 3000/s"));
}

TEST_CASE("a replay with failed calls has amounts, but neither rates nor latencies") {
  Result result = sample_replay();
  for (Sample& sample : result.measurements[0].samples) {
    sample.failed_calls = {{"near", "open", "EACCES", 1}};
  }
  const std::string text = format_result(result, plain);
  const std::size_t begin = text.find("\noperations ");
  REQUIRE(begin != std::string::npos);
  const std::string details = text.substr(begin, text.find("\norder ") - begin);
  CHECK_FALSE(details.contains("/s"));
  CHECK_FALSE(details.contains("lateness"));
  CHECK(details.contains("\nread "));
  CHECK_FALSE(details.contains(" 0 s"));
}

TEST_CASE("a replay without a volume has no durable time") {
  Result result = sample_replay();
  result.volumes.clear();
  result.measurements[0].file_system = "none";
  const std::string text = format_result(result, plain);
  CHECK(text.contains("without a volume"));
  CHECK_FALSE(text.substr(0, text.find("operations  ")).contains("durable"));
}

}  // namespace
}  // namespace filereel
