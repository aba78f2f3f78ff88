#include "replay/statistics/steady_state.h"

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/kept_file.h"

namespace filereel {
namespace {

std::string verdict_on(const std::vector<double>& rates) {
  const auto window = steady_window(rates);
  return !window ? "unknown" : window->is_steady() ? "steady" : "not";
}

TEST_CASE("the verdicts on kept series are those of the rule by hand") {
  std::istringstream lines(kept_file("replay/steady_series.txt"));
  int series = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    CAPTURE(line);
    const std::size_t end = line.find(';');
    std::istringstream numbers(line.substr(end + 1, line.rfind(';') - end - 1));
    std::vector<double> rates;
    for (double rate = 0; numbers >> rate;) rates.push_back(rate);
    REQUIRE(rates.size() >= 4);
    CHECK(verdict_on(rates) == line.substr(0, end));
    ++series;
  }
  CHECK(series == 12);
}

TEST_CASE("range and slope are shares of the mean of the last five rounds") {
  const auto window = steady_window(std::vector<double>{7, 80, 90, 100, 110, 120});
  REQUIRE(window);
  CHECK(window->range == doctest::Approx(0.4));
  CHECK(window->slope == doctest::Approx(0.4));
}

TEST_CASE("rounds without a rate have no steady state") {
  CHECK(verdict_on({0, 0, 0, 0, 0}) == "unknown");
}

}  // namespace
}  // namespace filereel
