#include "replay/run/reel_run.h"

#include <doctest/doctest.h>

#include "tests/replay/hand_trace.h"
#include "tests/replay/watcher.h"

namespace filereel {
namespace {

TEST_CASE("a replay says what is not in its trace, and what the recorder lost with what to do") {
  HandTrace trace;
  trace.add(0, OperationKind::make_directory, "a");
  trace.finish();
  trace.info.lost = {{"events lost while recording: writes", 7}, {"names that are too long", 2}};
  trace.info.approximated = {{"results of races", 1}};
  const TraceTrees trees;
  PartsTrace whole(trace.source, trace.tables, trace.info, trees);
  const NamedTrace input{"x.reel", whole};
  ReelRunRequest request;
  request.engine = EngineKind::null;
  Watcher observer;
  Result result;
  CHECK(run_reel(request, input, observer, result));
  REQUIRE(result.warnings.size() == 3);
  CHECK(result.warnings[0].code == "trace-events-lost");
  CHECK(result.warnings[0].text == "not in the trace: events lost while recording: writes (7)");
  CHECK(result.warnings[0].next_step ==
        "record again, less of it (--under) or while the machine is less busy");
  CHECK(result.warnings[1].code == "trace-lost");
  CHECK(result.warnings[2].code == "trace-approximated");
}

}  // namespace
}  // namespace filereel
