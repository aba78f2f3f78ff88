// What a schedule costs for each operation: how fast the feeder compiles a trace, and how fast it
// replays with the null engine. The trace is made up while it is read, so that it takes no memory.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>

#include "replay/engine/replayer.h"
#include "replay/schedule/schedule.h"

namespace {

using namespace filereel;

constexpr std::uint32_t kFilesPerThread = 64;

// Threads in turn open a file, read and write it, close it, and look at another thread's.
class MadeUpSource final : public RecordedSource {
 public:
  MadeUpSource(std::uint64_t operations, std::uint32_t threads) : left_(operations) {
    info.threads.resize(threads);
    for (TraceThread& thread : info.threads) {
      thread.operations = operations / threads;
      thread.last = operations;
    }
    for (std::uint32_t i = 0; i < threads * kFilesPerThread; ++i) {
      paths_.push_back(
          tables.paths.add(Role::near, "d" + std::to_string(i % 8) + "/e/f" + std::to_string(i)));
    }
    info.slots = threads;
    info.files = threads * kFilesPerThread;
    info.operations = operations;
    info.largest_io = 4096;
    for (const OperationKind kind : kCycle) ++info.by_kind[static_cast<std::size_t>(kind)];
  }

  std::size_t next(std::span<RecordedOperation> out) override {
    std::size_t filled = 0;
    while (filled < out.size() && left_ > 0) {
      make(out[filled++]);
      --left_;
      ++position_;
    }
    return filled;
  }

  TraceTables tables;
  TraceInfo info;

 private:
  static constexpr std::array<OperationKind, 8> kCycle = {
      OperationKind::open,  OperationKind::read, OperationKind::write, OperationKind::read,
      OperationKind::write, OperationKind::read, OperationKind::close, OperationKind::stat};

  void make(RecordedOperation& recorded) {
    const auto threads = static_cast<std::uint32_t>(info.threads.size());
    const auto thread = static_cast<std::uint32_t>(position_ % threads);
    const std::uint64_t turn = position_ / threads;
    const std::uint64_t cycle = turn / kCycle.size();
    // Every other file is one that all threads use.
    const auto shared = static_cast<std::uint32_t>(cycle % kFilesPerThread);
    const std::uint32_t file = cycle % 2 == 0 ? shared : thread * kFilesPerThread + shared;
    recorded = {};
    Operation& op = recorded.operation;
    op.kind = kCycle[turn % kCycle.size()];
    op.thread = thread;
    op.position = position_;
    op.entry = file;
    if (op.kind == OperationKind::stat) {
      op.path = paths_[(file + kFilesPerThread) % paths_.size()];
      return;
    }
    op.file = thread;
    if (op.kind == OperationKind::open) {
      op.path = paths_[file];
      op.flags = O_RDWR;
    }
    if (op.kind == OperationKind::read || op.kind == OperationKind::write) {
      op.offset = (turn * 7 + thread) % 256 * 4096;
      op.length = 4096;
      op.expected = 4096;
    }
  }

  std::uint64_t left_, position_ = 0;
  std::vector<PathId> paths_;
};

void report(benchmark::State& state, std::uint64_t operations, std::uint64_t waits) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(operations));
  state.counters["waits/op"] = static_cast<double>(waits) / static_cast<double>(operations);
}

constexpr std::uint64_t kOperations = 2'000'000;
constexpr std::size_t kWindow = 512 * 1024;

// Only the making up.
void make_up(benchmark::State& state) {
  for (auto _ : state) {
    MadeUpSource source(kOperations, static_cast<std::uint32_t>(state.range(0)));
    std::vector<RecordedOperation> batch(256);
    while (source.next(batch) != 0) benchmark::DoNotOptimize(batch.data());
  }
  report(state, kOperations, 0);
}
BENCHMARK(make_up)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond)->UseRealTime();

// Only the feeder works: the whole trace fits into the window. In processor time.
void feed(benchmark::State& state, Order order) {
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  std::uint64_t waits = 0;
  for (auto _ : state) {
    MadeUpSource source(kWindow / 2, threads);
    Schedule schedule(source, source.tables, source.info, {.order = order, .window = kWindow});
    waits = schedule.waits();
  }
  report(state, kWindow / 2, waits);
}
BENCHMARK_CAPTURE(feed, resource, Order::resource)
    ->Arg(1)
    ->Arg(2)
    ->Arg(8)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(feed, strict, Order::strict)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(feed, thread, Order::thread)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

void replay_with_null(benchmark::State& state, Order order) {
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  std::uint64_t waits = 0;
  for (auto _ : state) {
    MadeUpSource source(kOperations, threads);
    Schedule schedule(source, source.tables, source.info, {.order = order});
    const ReplayOutcome outcome =
        replay(schedule.trace(), {0, 0}, {.engine = EngineKind::null, .board = &schedule.board()});
    if (!outcome.complete) state.SkipWithError("the replay stopped early");
    waits = schedule.waits();
  }
  report(state, kOperations, waits);
}
BENCHMARK_CAPTURE(replay_with_null, resource, Order::resource)
    ->Arg(1)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(replay_with_null, thread, Order::thread)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
