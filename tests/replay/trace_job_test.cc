#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "tests/replay/hand_trace.h"
#include "tests/replay/job_run.h"

namespace filereel {
namespace {

TEST_CASE("a replay warns about losses in its trace, with advice for recorder losses") {
  HandTrace trace;
  trace.add(0, OperationKind::make_directory, "a");
  trace.finish();
  trace.info.lost = {{"events lost while recording: writes", 7}, {"names that are too long", 2}};
  trace.info.approximated = {{"results that depend on races", 1}};
  const TraceTrees trees;
  JobOptions options;
  options.engine = EngineKind::null;
  JobRun one(make_trace_job(
      "x", std::make_unique<PartsTrace>(trace.source, trace.tables, trace.info, trees), options));
  CHECK(one.run());
  const auto& warnings = one.result.warnings;
  REQUIRE(warnings.size() == 3);
  CHECK(warnings[0].code == "trace-events-lost");
  CHECK(warnings[0].text == "not in the trace: events lost while recording: writes (7)");
  CHECK(warnings[0].next_step == "record again, either less (--under) or on a less busy machine");
  CHECK(warnings[1].code == "trace-lost");
  CHECK(warnings[2].code == "trace-approximated");
}

TEST_CASE("divergence from a trace is data, and the run continues") {
  HandTrace trace;
  trace.add(0, OperationKind::make_directory, "a");
  trace.add(0, OperationKind::make_directory, "a");  // there is one, which the trace did not know
  trace.finish();
  const TraceTrees trees;
  JobRun one(make_trace_job(
      "x", std::make_unique<PartsTrace>(trace.source, trace.tables, trace.info, trees), {}));
  one.request.runs = 2;
  CHECK(one.run());
  CHECK(one.result.complete);
  CHECK(one.sample(0, 1).divergences == 1);
}

TEST_CASE("a pace is refused for a trace without times, and a depth for an engine without any") {
  HandTrace trace;
  trace.add(0, OperationKind::make_directory, "a");
  trace.finish();
  trace.info.timed = false;
  const TraceTrees trees;
  const auto make = [&](const JobOptions& options) {
    return make_trace_job(
        "x", std::make_unique<PartsTrace>(trace.source, trace.tables, trace.info, trees), options);
  };
  JobOptions paced;
  paced.pace = parse_pace("natural");
  CHECK_THROWS_WITH_AS(make(paced), doctest::Contains("no recorded times"), Error);
  JobOptions deep;
  deep.depth = 4;
  deep.engine = EngineKind::blocking;
  JobRun one(make(deep));
  CHECK(one.failure().find("--depth") != std::string::npos);
}

TEST_CASE("parameters of a replay may be swept") {
  HandTrace trace;
  trace.add(0, OperationKind::make_directory, "a");
  trace.finish();
  const TraceTrees trees;
  JobOptions options;
  options.sweep = {{"clients", {"1", "3"}}, {"order", {"strict", "thread"}}};
  JobRun one(make_trace_job(
      "x", std::make_unique<PartsTrace>(trace.source, trace.tables, trace.info, trees), options));
  CHECK(one.run());
  REQUIRE(one.result.measurements.size() == 4);
  CHECK(one.sample(0).operations == 1);
  CHECK(one.sample(3).operations == 3);
  CHECK(one.result.measurements[3].replay->clients == 3);
  CHECK(one.result.measurements[3].replay->order == "thread");
}

}  // namespace
}  // namespace filereel
