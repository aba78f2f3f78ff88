#include "traces/reel/reel_summary.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <sys/mman.h>

#include "tests/traces/recorded.h"

namespace filereel {
namespace {

struct Trace {
  VectorRecordedSource source;
  TraceInfo info;

  Trace() {
    info.slots = 2;
    info.files = 3;
    info.threads.resize(2);
  }
  void add(const Operation& operation, std::uint64_t duration_ns = 0) {
    source.operations.push_back({operation, 0, duration_ns});
  }
  ReelSummary summary() { return summarise_trace(source, info, {}); }
};

Operation data(OperationKind kind, FileSlot file, std::uint64_t offset, std::int64_t bytes) {
  return {.kind = kind, .file = file, .offset = offset, .expected = bytes};
}

TEST_CASE("an access is sequential where the last one of the same open file ended") {
  Trace trace;
  trace.add({.kind = OperationKind::open, .file = 0});
  trace.add(data(OperationKind::read, 0, 0, 100));
  trace.add(data(OperationKind::read, 0, 100, 50));
  trace.add(data(OperationKind::read, 1, 500, 10));  // another file, not at its beginning
  trace.add(data(OperationKind::read, 0, 150, 1));
  trace.add(data(OperationKind::read, 0, 0, 1000));
  const ReelSummary summary = trace.summary();
  CHECK(summary.reads.accesses == 5);
  CHECK(summary.reads.sequential == 3);
  CHECK(summary.reads.bytes == 1161);
  CHECK(summary.reads.sequential_bytes == 151);
  CHECK(summary.writes.accesses == 0);
}

TEST_CASE("a number of an open file begins anew when it is opened again") {
  Trace trace;
  trace.add({.kind = OperationKind::open, .file = 0});
  trace.add(data(OperationKind::write, 0, 0, 100));
  trace.add({.kind = OperationKind::open, .file = 0});
  trace.add(data(OperationKind::write, 0, 0, 100));
  CHECK(trace.summary().writes.sequential == 2);
}

TEST_CASE("reads at the end and failed ones say nothing of the pattern") {
  Trace trace;
  trace.add(data(OperationKind::read, 0, 7, 0));
  trace.add(data(OperationKind::read, 0, 9, -EIO));
  const ReelSummary summary = trace.summary();
  CHECK(summary.reads.accesses == 0);
  CHECK(summary.errors == 1);
  CHECK(summary.errors_by_number.at(EIO) == 1);
  CHECK(summary.kinds[static_cast<std::size_t>(OperationKind::read)].errors == 1);
}

TEST_CASE("kinds, syncs, threads and files are counted, calls apart from bookkeeping") {
  Trace trace;
  trace.add({.kind = OperationKind::fork, .second = 1});
  trace.add({.kind = OperationKind::sync, .entry = 2, .thread = 1}, 30);
  trace.add({.kind = OperationKind::sync_data, .asynchronous = true, .entry = 2, .thread = 1}, 12);
  trace.add({.kind = OperationKind::stat, .entry = 0});
  const ReelSummary summary = trace.summary();
  CHECK(summary.operations == 4);
  CHECK(summary.calls == 3);
  CHECK(summary.syncs == 2);
  CHECK(summary.asynchronous == 1);
  CHECK(summary.threads_used == 2);
  CHECK(summary.files_touched == 2);
  CHECK(summary.kinds[static_cast<std::size_t>(OperationKind::sync)].total_ns == 30);
}

TEST_CASE("only syncs that make something durable are counted") {
  Trace trace;
  trace.add({.kind = OperationKind::sync_range});
  trace.add({.kind = OperationKind::sync_map, .flags = MS_ASYNC});
  CHECK(trace.summary().syncs == 0);
  Trace durable;
  durable.add({.kind = OperationKind::sync_map, .flags = MS_SYNC});
  durable.add({.kind = OperationKind::sync_volume});
  CHECK(durable.summary().syncs == 2);
}

TEST_CASE("a requested stop ends the reading") {
  Trace trace;
  trace.add({.kind = OperationKind::stat});
  std::stop_source stop;
  stop.request_stop();
  CHECK(summarise_trace(trace.source, trace.info, stop.get_token()).operations == 0);
}

}  // namespace
}  // namespace filereel
