#include "replay/run/runs_notice.h"

#include <doctest/doctest.h>

#include "replay/plan/plan.h"
#include "replay/statistics/significance.h"

namespace filereel {
namespace {

TEST_CASE("jobs with runs of their own in an automatic plan are not told to be automatic") {
  const std::string text = runs_notice({.measurements = 2, .least = 3, .some_automatic = true});
  CHECK(text.contains("planned: 3 for jobs with 'runs' of their own; omit these, or use --runs"));
  CHECK_FALSE(text.contains("auto"));
}

TEST_CASE("more measurements need more runs, and the usual six suit a few") {
  CHECK(runs_for_comparison(1) == 4);
  CHECK(runs_for_comparison(4) == 5);
  CHECK(runs_for_comparison(8) == kUsualRuns);
  std::uint32_t last = 0;
  for (const std::size_t measurements : {1, 4, 20, 100, 1000}) {
    CHECK(runs_for_comparison(measurements) >= last);
    last = runs_for_comparison(measurements);
  }
  CHECK(last <= 10);
  CHECK(runs_for_ranking(9, 9) > runs_for_comparison(9));
  CHECK(runs_for_ranking(1, 2) >= runs_for_comparison(1));
}

TEST_CASE("the notice names the runs that are missing") {
  CHECK(runs_notice({.measurements = 4, .entries = 1, .least = 6}) ==
        "4 measurements: a verdict at 1 % and intervals need at least 6 runs on each side, more if "
        "differences are small");
  CHECK(runs_notice({.measurements = 4, .entries = 1, .least = 3}) ==
        "4 measurements: a verdict at 1 % and intervals need at least 6 runs on each side, more if "
        "differences are small; planned: 3; use --runs auto or --runs 6");
  const std::string ranked =
      runs_notice({.measurements = 9, .entries = 9, .ranked = true, .least = 5});
  CHECK(ranked.starts_with("9 measurements on each of 9 file systems: a ranking needs at least "));
  CHECK(ranked.contains("planned: 5"));
  CHECK_FALSE(runs_notice({.measurements = 1000}).contains("planned"));  // all are automatic
}

}  // namespace
}  // namespace filereel
