// The engine that executes operations sequentially, by blocking calls or by none.
#pragma once

#include <utility>

#include "replay/engine/operation_executor.h"
#include "replay/engine/outcome_recorder.h"
#include "replay/measure/clock.h"

namespace filereel {

// `Calls` is LinuxCalls or NullCalls.
template <class Calls>
class SequentialEngine final : public IoEngine {
 public:
  SequentialEngine(const EngineContext& context, std::uint32_t lane)
      : context_(context), lane_(lane), executor_(context_), recorder_(context_) {}
  SequentialEngine(const SequentialEngine&) = delete;
  SequentialEngine& operator=(const SequentialEngine&) = delete;

  void prepare(const Operation& op) noexcept override { executor_.prepare_ahead(op); }

  Execution execute(std::span<const Operation>& operations,
                    bool stop_on_divergence) noexcept override {
    while (!operations.empty()) {
      if (context_.stop.stop_requested()) return Execution::stopped;
      const Operation& op = operations.front();
      operations = operations.subspan(1);
      const bool good = perform(op);
      if (context_.board) context_.board->advance(lane_);
      if (!good && stop_on_divergence) return Execution::stopped;
      if (last_end_ns_ >= alarm_ns_) return Execution::alarm;
    }
    return Execution::all;
  }
  void set_alarm(std::uint64_t at_ns) noexcept override { alarm_ns_ = at_ns; }
  void set_due(std::uint64_t due_ns) noexcept override { due_ns_ = due_ns; }

  bool drain() noexcept override { return true; }
  bool wait_until(std::uint64_t due_ns) noexcept override {
    sleep_until(due_ns, context_.stop);
    return true;
  }

  ReplayStatistics& statistics() override { return recorder_.statistics(); }

 private:
  // Returns false for a true mismatch.
  bool perform(const Operation& op) noexcept {
    if (is_refused(op, context_)) {
      recorder_.refuse(op.kind);
      return true;
    }
    // Content is generated before the clock is read: it is filereel's work, not the file system's.
    executor_.prepare(op);
    const std::uint64_t start = now_ns();
    std::int64_t result = executor_.call(op);
    const std::uint64_t end = now_ns();
    last_end_ns_ = end;
    if constexpr (!Calls::kReal) result = op.expected;
    const std::uint64_t lookup = executor_.take_lookup_ns();
    recorder_.statistics().lookup_ns += lookup;
    const bool good = recorder_.record(
        op, result,
        call_time(start, end, executor_.take_own_ns() + lookup, std::exchange(due_ns_, 0)));
    if (Calls::kReal && recorder_.checks_content(op, result)) [[unlikely]] {
      const auto got = static_cast<std::uint64_t>(result);
      const std::uint64_t position = executor_.first_difference(op, got);
      if (position < got) {
        return recorder_.content_differs(op, recorder_.path_of(op), position) && good;
      }
    }
    return good;
  }

  EngineContext context_;
  std::uint32_t lane_;
  OperationExecutor<Calls> executor_;
  OutcomeRecorder recorder_;
  std::uint64_t last_end_ns_ = 0;
  std::uint64_t alarm_ns_ = UINT64_MAX;
  std::uint64_t due_ns_ = 0;  // due time of the next operation; 0: none
};

}  // namespace filereel
