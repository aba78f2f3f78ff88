#include "tools/replay_table.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/sample_result.h"

namespace filereel {
namespace {

std::string plain(const std::string& text) {
  return text;
}

TEST_CASE("a replay is shown as in the golden file") {
  const char* data = getenv("FILEREEL_TEST_DATA");
  REQUIRE_MESSAGE(data != nullptr, "set FILEREEL_TEST_DATA to the folder tests/");
  std::ifstream in(std::string(data) + "/tools/golden/replay.txt");
  const std::string golden(std::istreambuf_iterator<char>(in), {});
  CHECK(format_replay(sample_replay(), plain) == golden);
}

TEST_CASE("metadata operations have no bytes and no speed in the table") {
  const std::string text = format_replay(sample_replay(), plain);
  const std::size_t row = text.find("rename ");
  REQUIRE(row != std::string::npos);
  const std::string line = text.substr(row, text.find('\n', row) - row);
  CHECK(line.find(" B") == std::string::npos);
  CHECK(line.find("MB") == std::string::npos);
}

TEST_CASE("a replay without divergences says so, one that was interrupted too") {
  Result result = sample_replay();
  result.complete = false;
  for (Sample& sample : result.measurements[0].samples) {
    sample.divergences = 0;
    sample.examples.clear();
    sample.reel->divergences.clear();
    sample.reel->tree->differences = 0;
    sample.reel->tree->examples.clear();
  }
  const std::string text = format_replay(result, plain);
  CHECK(text.find("every result is that of the trace") != std::string::npos);
  CHECK(text.find("the tree is as after the trace: 40 entries") != std::string::npos);
  CHECK(text.find("INCOMPLETE") != std::string::npos);
}

TEST_CASE("a replay without a volume has no durable time") {
  Result result = sample_replay();
  result.volumes.clear();
  result.measurements[0].file_system = "none";
  const std::string text = format_replay(result, plain);
  CHECK(text.find("without a volume") != std::string::npos);
  CHECK(text.find("durable") == std::string::npos);
}

}  // namespace
}  // namespace filereel
