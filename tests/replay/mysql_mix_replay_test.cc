#include <doctest/doctest.h>

#include "replay/run/reel_run.h"
#include "tests/replay/watcher.h"
#include "tests/temp_dir.h"
#include "tests/traces/mysql_mix.h"

namespace filereel {
namespace {

MysqlMixOptions small_mix() {
  MysqlMixOptions options = small_mysql();
  options.transactions = 400;
  return options;
}

void check_replay(const MysqlMixOptions& options, EngineKind engine) {
  MysqlMix mix(options);
  const NamedTrace input{"mysql-mix", mix};
  const TempDir temp;
  ReelRunRequest request;
  request.target = Target{TargetKind::directory, temp.path()};
  request.engine = engine;
  request.verify = ReelVerify::tree;
  request.runs = 2;
  request.keep = false;
  Watcher observer;
  Result result;
  REQUIRE(run_reel(request, input, observer, result));
  REQUIRE(result.measurements.size() == 1);
  REQUIRE(result.measurements[0].samples.size() == 2);
  for (const Sample& sample : result.measurements[0].samples) {
    CHECK(sample.divergences == 0);
    CHECK(sample.operations == mix.info().operations);
    REQUIRE(sample.reel);
    CHECK(sample.reel->unverified == 0);
    CHECK(sample.reel->bytes_written == mix.info().bytes_written);
  }
}

TEST_CASE("a mysql-mix replays as often as asked, and every result is that of the trace") {
  check_replay(small_mix(), EngineKind::blocking);
  if (!why_no_uring()) check_replay(small_mix(), EngineKind::uring);
}

TEST_CASE("a mysql-mix without native AIO replays with calls alone") {
  MysqlMixOptions options = small_mix();
  options.native_aio = false;
  check_replay(options, EngineKind::blocking);
}

}  // namespace
}  // namespace filereel
