#include "replay/compare/same_work.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/results/work_names.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

using Lines = std::vector<std::string>;

const std::string kOneDigest(16, '1'), kOtherDigest(16, '2');

// A result of a workload of that file, whose content has the digest.
Result result_of(const std::string& file, const std::string& digest, const Lines& does = {}) {
  Result result = sample_result();
  Measurement read = measurement_of("", "read", "ext4", "kernel");
  read.kind = JobKind::workload;
  read.workload = file;
  read.work_digest = digest;
  for (std::uint32_t run = 1; run <= 6; ++run) {
    read.samples.push_back(sample_of(run, 1 + run * 0.001, 1 + run * 0.001, 100'000'000, 3));
  }
  result.measurements = {read};
  result.plan.jobs = {{.kind = JobKind::workload, .name = file, .settings = {}, .axes = {}}};
  result.plan.work.clear();
  if (!digest.empty()) result.plan.work = {{.job = file, .file = file, .does = does}};
  return result;
}

ResultComparison compare_work(const Result& base, const Result& fresh) {
  return compare_results({&base, 1}, {&fresh, 1});
}

bool has_warning(const ResultComparison& comparison, const std::string& code) {
  return std::ranges::find(comparison.warnings, code, &Warning::code) != comparison.warnings.end();
}

TEST_CASE("an edited recipe is not compared with its older result") {
  const Lines common = {"data: 50 files of 16 KiB", "read: ends after 1 pass"};
  Lines before = common, after = common;
  before.emplace_back("  1 thread on data: read by 128 KiB");
  after.emplace_back("  1 thread on data: read by 4 KiB");
  const ResultComparison comparison = compare_work(result_of("mixed.yaml", kOneDigest, before),
                                                   result_of("mixed.yaml", kOtherDigest, after));
  REQUIRE(comparison.measurements.size() == 1);
  CHECK_FALSE(comparison.comparable());
  CHECK(comparison.measurements[0].reason() == "different work: the recipe of mixed.yaml changed");
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].what == "recipe of mixed.yaml");
  CHECK(comparison.changes[0].base == "1 thread on data: read by 128 KiB");
  CHECK(comparison.changes[0].fresh == "1 thread on data: read by 4 KiB");
}

TEST_CASE("without a difference in words, the digests are listed") {
  const ResultComparison comparison = compare_work(result_of("a.yaml", kOneDigest, {"the same"}),
                                                   result_of("a.yaml", kOtherDigest, {"the same"}));
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].base == "content 11111111");
  CHECK(comparison.changes[0].fresh == "content 22222222");
}

TEST_CASE("lines that only one side has are listed") {
  const ResultComparison comparison = compare_work(
      result_of("a.yaml", kOneDigest, {"one"}), result_of("a.yaml", kOtherDigest, {"one", "two"}));
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].base == "nothing else");
  CHECK(comparison.changes[0].fresh == "two");
}

TEST_CASE("several contents that both sides have are compared each for itself") {
  const Result result = result_of("a.yaml", kOneDigest), other = result_of("a.yaml", kOtherDigest);
  const std::array base = {result, other}, fresh = {result, other};
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.comparable());
  REQUIRE(comparison.measurements.size() == 2);
  CHECK(key_text(comparison.measurements[0].key) != key_text(comparison.measurements[1].key));
}

TEST_CASE("a content that only one side has is left out and named") {
  const Result result = result_of("a.yaml", kOneDigest), other = result_of("a.yaml", kOtherDigest);
  const std::array base = {result, other};
  const std::array fresh = {result};
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.comparable());
  CHECK(comparison.measurements.size() == 1);
  CHECK(has_warning(comparison, "left-out"));
}

TEST_CASE("a result of unknown content does not join the contents of the others") {
  const Result result = result_of("a.yaml", kOneDigest), other = result_of("a.yaml", kOtherDigest);
  Result unknown = result_of("a.yaml", "");
  unknown.session = "earlier";
  const std::array base = {unknown, result};
  const std::array fresh = {result, other};
  const ResultComparison comparison = compare_results(base, fresh);
  CHECK(comparison.comparable());
  CHECK(has_warning(comparison, "left-out"));
}

TEST_CASE("unknown content is compared by name, with one warning") {
  const ResultComparison comparison =
      compare_work(result_of("mixed.yaml", ""), result_of("mixed.yaml", kOtherDigest));
  CHECK(comparison.comparable());
  CHECK(comparison.changes.empty());
  CHECK(std::ranges::count(comparison.warnings, "work-unknown", &Warning::code) == 1);
  // The catalogue says what these are.
  CHECK_FALSE(has_warning(compare_work(result_of("random-read", ""), result_of("random-read", "")),
                          "work-unknown"));
}

TEST_CASE("another scale is named alone") {
  Result base = result_of("a.yaml", kOneDigest), fresh = result_of("a.yaml", kOtherDigest);
  fresh.plan.jobs[0].scale = 0.5;
  const ResultComparison comparison = compare_work(base, fresh);
  CHECK(comparison.measurements[0].reason() == "different scales: 1 versus 0.5");
  CHECK(comparison.changes.empty());
}

TEST_CASE("the same content under another file name has the first name") {
  Result base = result_of("mixed.yaml", kOneDigest), fresh = result_of("copy.yaml", kOneDigest);
  name_alike(std::array{&base, &fresh});
  CHECK(fresh.measurements[0].workload == "mixed.yaml");
  CHECK(fresh.plan.jobs[0].name == "mixed.yaml");
  CHECK(fresh.plan.work[0].file == "copy.yaml");
  const ResultComparison comparison = compare_work(base, fresh);
  CHECK(comparison.comparable());
  CHECK(has_warning(comparison, "renamed-file"));
}

TEST_CASE("files are said to be the same only where their content is known to be") {
  Result base = result_of("nightly", kOneDigest), fresh = result_of("nightly", kOtherDigest);
  base.plan.work[0].file = "a.yaml";
  fresh.plan.work[0].file = "b.yaml";
  SUBCASE("another scale") {
    fresh.plan.jobs[0].scale = 0.5;
  }
  SUBCASE("unknown content") {
    base.measurements[0].work_digest = fresh.measurements[0].work_digest = "";
  }
  CHECK_FALSE(has_warning(compare_work(base, fresh), "renamed-file"));
}

TEST_CASE("names that plans give, that both results have, or of other content stay") {
  Result base = result_of("mixed.yaml", kOneDigest), fresh = result_of("copy.yaml", kOneDigest);
  SUBCASE("by a plan") {
    fresh.plan.work[0].file = "recipe.yaml";
  }
  SUBCASE("other content") {
    fresh.measurements[0].work_digest = kOtherDigest;
  }
  SUBCASE("in both") {
    base.measurements.push_back(fresh.measurements[0]);
    base.plan.work.push_back(fresh.plan.work[0]);
  }
  SUBCASE("unknown content") {
    fresh = result_of("copy.yaml", "");
  }
  name_alike(std::array{&base, &fresh});
  CHECK(fresh.measurements[0].workload == "copy.yaml");
}

TEST_CASE("a name that an older result has stays, so that both are compared") {
  Result older = result_of("copy.yaml", ""), base = result_of("mixed.yaml", kOneDigest),
         fresh = result_of("copy.yaml", kOneDigest);
  name_alike(std::array{&older, &base, &fresh});
  CHECK(fresh.measurements[0].workload == "copy.yaml");
}

TEST_CASE("older results name recipes without folders, unless two would have one name") {
  Result result = result_of("/home/me/mixed.yaml", "");
  shorten_older_names(result);
  CHECK(result.measurements[0].workload == "mixed.yaml");
  CHECK(result.plan.jobs[0].name == "mixed.yaml");
  Result two = result_of("a/mixed.yaml", "");
  two.plan.jobs.push_back(
      {.kind = JobKind::workload, .name = "b/mixed.yaml", .settings = {}, .axes = {}});
  shorten_older_names(two);
  CHECK(two.measurements[0].workload == "a/mixed.yaml");
  Result named = result_of("read 4K/64K", "");
  shorten_older_names(named);
  CHECK(named.measurements[0].workload == "read 4K/64K");
}

TEST_CASE("the patterns of indices follow the names") {
  Result base = result_of("mixed.yaml", kOneDigest), fresh = result_of("copy.yaml", kOneDigest);
  fresh.plan.indexes = {{.name = "all", .patterns = {"copy.yaml", "copy.yaml read", "*.yaml"}}};
  name_alike(std::array{&base, &fresh});
  CHECK(fresh.plan.indexes[0].patterns == Lines{"mixed.yaml", "mixed.yaml read", "*.yaml"});
}

TEST_CASE("a long description is cut, and says how much is left out") {
  WorkRecord work;
  work.add(Lines(100, "a line"));
  REQUIRE(work.does.size() == WorkRecord::kMostLines + 1);
  CHECK(work.does.back() == "and 40 more lines");
  work.add({"another"});
  CHECK(work.does.size() == WorkRecord::kMostLines + 1);
}

}  // namespace
}  // namespace filereel
