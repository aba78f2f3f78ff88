#include "tools/cli/heat_map.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::string same(const std::string& text) {
  return text;
}

TEST_CASE("a heat map shows when operations ended and how long they took, single ones too") {
  TimeGrid grid;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    grid.record(i * kMs / 10, Histogram::bucket(10'000 + 40 * i), 0, false);
  }
  grid.record(65 * kMs, Histogram::bucket(3 * kMs), 0, false);
  CHECK(heat_map(grid) ==
        "         │      ·\n"
        "         │\n"
        "    1 ms ┤\n"
        "         │\n"
        "         │\n"
        "  100 µs ┤\n"
        "         │     ▓████\n"
        "         │ █████\n"
        "   10 µs ┤██\n"
        "         └──────────\n"
        "          0 s  100 ms\n"
        "          · one operation, ░▒▓█ up to 100; a column is 10 ms\n");
}

TEST_CASE("a heat map of one operation has one cell") {
  TimeGrid grid;
  CHECK(heat_map(grid).empty());
  grid.record(5, Histogram::bucket(1000), 0, false);
  CHECK(heat_map(grid) ==
        "    1 µs ┤·\n"
        "         └─\n"
        "          0 s  10 ms\n"
        "          · one operation; a column is 10 ms\n");
}

TEST_CASE("the longest and widest heat map fits 80 columns and 12 rows") {
  TimeGrid grid;
  for (std::uint64_t i = 0; i <= Histogram::kTopBit; ++i) {
    grid.record(i * 60'000 * kMs, Histogram::bucket(std::uint64_t{1} << i), 0, false);
  }
  std::istringstream lines(heat_map(grid));
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const auto columns = std::ranges::count_if(
        line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    CHECK(columns <= 80);
  }
  CHECK(rows <= 12 + 3);
}

TEST_CASE("samples are shown together, those without a course not at all") {
  const std::string text = heat_maps(sample_replay(), "", same);
  CHECK(text.starts_with("\next4 app: latency over time, 3 runs together\n"));
  CHECK(text.contains("up to 3;"));
  CHECK(heat_maps(sample_result(), "", same).empty());
}

TEST_CASE("of many measurements the first are shown, or those that are asked for") {
  Result result = sample_replay();
  for (int i = 0; i < 4; ++i) {
    Measurement measurement = result.measurements.front();
    measurement.workload = "app" + std::to_string(i);
    result.measurements.push_back(measurement);
  }
  const std::string first = heat_maps(result, "", same);
  CHECK(first.contains("ext4 app1: "));
  CHECK_FALSE(first.contains("ext4 app2: "));
  CHECK(first.contains("\n2 more; select by title with --measurement TEXT"));
  const std::string asked = heat_maps(result, "ext4 app2", same);
  CHECK(asked.contains("ext4 app2: "));
  CHECK_FALSE(asked.contains("app1"));
  CHECK_THROWS_AS(heat_maps(result, "xfs", same), Error);
}

}  // namespace
}  // namespace filereel
