#include "replay/run/runner.h"

#include <stop_token>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>

#include "tests/replay/watcher.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

TEST_CASE("after an interruption between two repetitions the files of the first are still there") {
  const TempDir temp;
  RunRequest request;
  request.plan.sets = {"mp3"};
  request.plan.operations = {FcStep::create};
  request.plan.scale = 1e-5;
  request.near = Target{TargetKind::directory, temp / "near"};
  request.keep = true;
  std::stop_source stop;
  request.stop = stop.get_token();
  Watcher watcher;
  watcher.at_sample = [&] { stop.request_stop(); };
  Result result;
  CHECK_FALSE(run_plan(request, watcher, result));
  CHECK_FALSE(result.complete);
  CHECK(watcher.steps.size() == 1);
  CHECK(result.measurements.at(0).samples.size() == 1);
  CHECK(boost::filesystem::exists(temp / "near/original"));
}

}  // namespace
}  // namespace filereel
