#include "replay/run/overhead.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "replay/engine/replayer.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

constexpr std::uint64_t kFewest = 1000;  // operations of a replay

// Removes what takes time by itself, or is not filereel's own work: due times, pauses and work of a
// pace, waits for something outside of the trace, content. The operation itself remains.
void strip(Operation& op) {
  if (op.kind == OperationKind::pace) {
    op.flags = pace_flags::kFromNow;
    op.offset = 0;
  }
  if (op.kind == OperationKind::wait) op.length = 0;
  op.data = DataSource::last_read;  // needs no generated content
}

// Yields the first operations of another source, stripped.
class StrippedSource final : public OperationSource {
 public:
  StrippedSource(std::unique_ptr<OperationSource> source, std::uint64_t most)
      : source_(std::move(source)), left_(most) {}

  std::size_t next(std::span<Operation> out) override {
    const std::size_t filled = source_->next(out.first(std::min<std::uint64_t>(out.size(), left_)));
    left_ -= filled;
    std::ranges::for_each(out.first(filled), strip);
    return filled;
  }
  bool would_wait() const override { return source_->would_wait(); }

 private:
  std::unique_ptr<OperationSource> source_;
  std::uint64_t left_;
};

// Limited by operations, not by time: on a busy machine a thread may not run for a while.
ReplayOutcome replay_without_calls(ReadyTrace ready, const std::stop_token& stop) {
  constexpr std::uint64_t kMost = 50'000;
  auto& threads = ready.trace.threads;
  // The lanes of a schedule wait for each other's operations.
  const std::uint64_t each =
      ready.board ? UINT64_MAX
                  : std::max(kMost / std::max<std::size_t>(threads.size(), 1), kFewest);
  for (auto& thread : threads) thread = std::make_unique<StrippedSource>(std::move(thread), each);
  return replay(std::move(ready.trace), {0, 0},
                {.engine = EngineKind::null,
                 .stop_on_divergence = false,
                 .board = ready.board,
                 .stop = stop});
}

}  // namespace

double measure_overhead_ns(const std::function<ReadyTrace()>& make, const std::stop_token& stop) {
  constexpr std::uint64_t kEnough = 100'000, kLeastReplays = 3, kMostReplays = 25;
  if (stop.stop_requested()) return 0;
  const std::uint64_t operations = replay_without_calls(make(), stop).statistics.operations;
  if (operations < kFewest) return 0;
  const std::uint64_t replays = std::clamp(kEnough / operations, kLeastReplays, kMostReplays);
  std::vector<double> costs;
  for (std::uint64_t i = 0; i < replays; ++i) {
    if (stop.stop_requested()) return 0;
    const ReplayOutcome outcome = replay_without_calls(make(), stop);
    const auto count = static_cast<double>(outcome.statistics.operations);
    if (count > 0) costs.push_back(outcome.threads_cpu_s * 1e9 / count);
  }
  return costs.empty() ? 0 : median(costs);
}

double measure_overhead_ns(const FittedJob& fitted, const std::stop_token& stop) {
  double overhead = 0;
  for (std::size_t step = 0; overhead == 0 && step < fitted.steps().size(); ++step) {
    std::unique_ptr<StepReplay> replay = fitted.make_overhead_replay(step);
    if (!replay) continue;
    overhead = measure_overhead_ns(
        [&]() -> ReadyTrace {
          replay = fitted.make_overhead_replay(step);
          return {std::move(replay->trace), replay->options.board};
        },
        stop);
    replay->check();
  }
  return overhead;
}

}  // namespace filereel
