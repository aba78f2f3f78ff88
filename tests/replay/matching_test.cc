#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/compare/groups.h"
#include "replay/compare/ranking.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// A session of its own with five runs that take `seconds`.
Result session_of(double seconds, double scale, int number) {
  Result result = sample_result();
  result.session = "session " + std::to_string(number);
  result.started = "2024-02-0" + std::to_string(number) + "T12:00:00Z";
  result.label = "";
  result.plan.jobs[0].scale = scale;
  Measurement create = measurement_of("iso", "create", "ext4", "kernel");
  for (std::uint32_t run = 1; run <= 5; ++run) {
    const double noise = 1 + 0.001 * run;
    create.samples.push_back(sample_of(run, seconds / 2, seconds * noise,
                                       static_cast<std::uint64_t>(800'000'000 * scale), 3));
  }
  result.measurements = {create};
  return result;
}

const Warning* left_out(const ResultComparison& comparison) {
  const auto found = std::ranges::find(comparison.warnings, "left-out", &Warning::code);
  return found == comparison.warnings.end() ? nullptr : &*found;
}

TEST_CASE("a result at another scale is left out and named, and the others are compared") {
  const std::vector<Result> base = {session_of(2, 1, 1), session_of(4, 2, 2), session_of(2, 1, 3)},
                            fresh = {session_of(9, 1, 4)};
  for (const bool swapped : {false, true}) {
    const ResultComparison comparison =
        swapped ? compare_results(fresh, base) : compare_results(base, fresh);
    REQUIRE(comparison.measurements.size() == 1);
    const ComparedMeasurement& compared = comparison.measurements[0];
    CHECK(compared.comparable);
    CHECK((swapped ? compared.fresh : compared.base).samples == 10);
    CHECK(compared.verdict == (swapped ? Verdict::faster : Verdict::slower));
    const Warning* warning = left_out(comparison);
    REQUIRE(warning);
    CHECK(warning->text == std::string("1 of 3 results of ") +
                               (swapped ? "the new side" : "the base") +
                               " is left out: scale 2 instead of 1 (2024-02-02T12:00:00Z)");
  }
}

TEST_CASE("what only results that are left out have in common is no difference") {
  std::vector<Result> base = {session_of(2, 1, 1), session_of(4, 2, 2)};
  base[1].host.kernel = "5.0";
  base[1].complete = false;
  const std::vector<Result> fresh = {session_of(2, 1, 3)};
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.changes.empty());
  CHECK(comparison.complete);
}

TEST_CASE("several scales that both sides have are compared apart") {
  const std::vector<Result> base = {session_of(2, 1, 1), session_of(4, 2, 2)},
                            fresh = {session_of(4, 2, 3), session_of(20, 1, 4)};
  const ResultComparison comparison = compare_results(base, fresh);
  REQUIRE(comparison.measurements.size() == 2);
  CHECK_FALSE(left_out(comparison));
  CHECK(key_text(comparison.measurements[0].key).contains("scale=1"));
  CHECK(comparison.measurements[0].verdict == Verdict::slower);
  CHECK(comparison.measurements[1].time.ratio == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("without work in common, the comparison says what differs") {
  const std::vector<Result> base = {session_of(2, 1, 1), session_of(4, 2, 2)},
                            fresh = {session_of(8, 4, 3)};
  const ResultComparison comparison = compare_results(base, fresh);
  REQUIRE(comparison.measurements.size() == 1);
  CHECK_FALSE(comparison.measurements[0].comparable);
  CHECK(comparison.measurements[0].reason() == "different scales: 1, 2 versus 4");
  CHECK_FALSE(left_out(comparison));
}

TEST_CASE("other settings are left out if the rest has them in common, and compared otherwise") {
  const auto with = [](Result result, const std::string& time) {
    result.plan.jobs[0].settings = {{"block_size", time}};
    return result;
  };
  std::vector<Result> base = {with(session_of(2, 1, 1), "4 KiB"),
                              with(session_of(2, 1, 2), "1 MiB")},
                      fresh = {with(session_of(2, 1, 3), "4 KiB")};
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.measurements.at(0).base.samples == 5);
  REQUIRE(left_out(comparison));
  CHECK(left_out(comparison)->text.contains("block size 1 MiB instead of 4 KiB"));
  CHECK(comparison.changes.empty());
  fresh = {with(session_of(2, 1, 3), "64 KiB")};
  const ResultComparison apart = compare_results(base, fresh);
  CHECK(apart.measurements.at(0).base.samples == 10);
  CHECK_FALSE(left_out(apart));
  fresh[0].plan.jobs[0].warm = true;
  CHECK(compare_results(base, fresh).measurements.at(0).comparable);
}

TEST_CASE("a changed file set or recording of the same name is left out, too") {
  std::vector<Result> base = {session_of(2, 1, 1), session_of(2, 1, 2)};
  for (Sample& sample : base[1].measurements[0].samples) sample.files = 4;
  const std::vector<Result> fresh = {session_of(2, 1, 3)};
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.measurements.at(0).comparable);
  REQUIRE(left_out(comparison));
  CHECK(left_out(comparison)->text.contains("work 800000000 bytes in 4 files instead of"));
}

TEST_CASE(
    "earlier sessions at another scale say nothing of the spread, and do not hide the others") {
  const std::vector<Result> base = {session_of(2, 1, 1)}, fresh = {session_of(2.2, 1, 2)};
  std::vector<std::vector<Result>> earlier(1);
  for (int i = 3; i < 9; ++i) earlier[0].push_back(session_of(2 + 0.01 * i, 1, i));
  const AspectResult before = compare_results(base, fresh, {}, earlier).measurements.at(0).time;
  CHECK(before.basis == Basis::history);
  earlier[0].push_back(session_of(40, 2, 9));
  const AspectResult after = compare_results(base, fresh, {}, earlier).measurements.at(0).time;
  CHECK(after.basis == Basis::history);
  CHECK(after.p == before.p);
}

TEST_CASE("an entry of a ranking keeps the work that it has in common with the others") {
  std::vector<ResultGroup> groups = {{"a", {session_of(2, 1, 1), session_of(4, 2, 2)}},
                                     {"b", {session_of(2, 1, 3)}},
                                     {"c", {session_of(20, 1, 4)}}};
  groups[0].results[1].complete = false;
  const Ranking ranking = rank_groups(groups);
  REQUIRE(ranking.measurements.size() == 1);
  for (const RankedEntry& entry : ranking.measurements[0].entries) {
    CHECK(entry.comparable);
    CHECK(entry.side.samples == 5);
  }
  const auto found = std::ranges::find(ranking.warnings, "left-out", &Warning::code);
  REQUIRE(found != ranking.warnings.end());
  CHECK(ranking.complete);
  CHECK(found->text.starts_with("1 of 2 results of a is left out: scale 2 instead of 1"));
}

}  // namespace
}  // namespace filereel
