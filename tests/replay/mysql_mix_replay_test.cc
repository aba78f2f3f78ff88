#include <memory>

#include <doctest/doctest.h>

#include "tests/replay/job_run.h"
#include "tests/traces/mysql_mix.h"

namespace filereel {
namespace {

MysqlMixOptions small_mix() {
  MysqlMixOptions options = small_mysql();
  options.transactions = 400;
  return options;
}

void check_replay(const MysqlMixOptions& mysql, EngineKind engine) {
  auto mix = std::make_unique<MysqlMix>(mysql);
  const TraceInfo info = mix->info();
  JobOptions options;
  options.engine = engine;
  options.verify = Verification::tree;
  JobRun run(make_trace_job("mysql-mix", std::move(mix), options));
  run.request.runs = 2;
  REQUIRE(run.run());
  REQUIRE(run.result.measurements.size() == 1);
  REQUIRE(run.result.measurements[0].samples.size() == 2);
  for (const Sample& sample : run.result.measurements[0].samples) {
    CHECK(sample.divergences == 0);
    CHECK(sample.operations == info.operations);
    REQUIRE(sample.tree);
    CHECK(sample.tree->differences == 0);
    REQUIRE(sample.reel);
    CHECK(sample.reel->unverified == 0);
    CHECK(sample.reel->bytes_written == info.bytes_written);
  }
}

TEST_CASE("a mysql-mix replays as often as asked, and every result is that of the trace") {
  check_replay(small_mix(), EngineKind::blocking);
  if (!uring_unavailable_reason()) check_replay(small_mix(), EngineKind::uring);
}

TEST_CASE("the samples of a workload of statements have its transactions, of all clients") {
  JobOptions options;
  options.clients = 2;
  options.scale = 0.5;
  options.name = "statements";
  JobRun run(make_trace_job(Workload::from_yaml("mysql:\n"
                                                "  transactions: 400\n"
                                                "  rows: 20000\n"
                                                "  buffer_pool: 16 MiB\n"
                                                "  statements: {insert: 98 %, delete-time: 2 %}\n",
                                                "w.yaml"),
                            options));
  REQUIRE(run.run());
  CHECK(run.sample(0).transactions == 2 * 200);
  const std::optional<Spread> rate = run.result.measurements[0].summary().transactions_per_s;
  REQUIRE(rate);
  CHECK(rate->median == doctest::Approx(400 / run.sample(0).elapsed_s));
  // What was recorded elsewhere has none.
  JobRun recorded(make_trace_job("mix", std::make_unique<MysqlMix>(small_mix()), {}));
  REQUIRE(recorded.run());
  CHECK_FALSE(recorded.sample(0).transactions);
  CHECK_FALSE(recorded.result.measurements[0].summary().transactions_per_s);
}

TEST_CASE("a mysql-mix without native AIO replays with calls alone") {
  MysqlMixOptions options = small_mix();
  options.native_aio = false;
  check_replay(options, EngineKind::blocking);
}

}  // namespace
}  // namespace filereel
