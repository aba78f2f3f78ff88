// Controls the repetitions of a part of a run: a fixed number, or until its figures are precise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/measure/clock.h"
#include "replay/results/result.h"
#include "replay/statistics/steady_state.h"

namespace filereel {

using Nanoseconds = std::function<std::uint64_t()>;  // a clock

// The repetitions of a group of measurements. Automatic repetitions end if
// - every measurement with a rate (MB/s, else files/s, else operations/s) has
//   intervals of the target width for its rate and its tail ("precise"), or
// - one more repetition of average duration would exceed the budget ("budget"), or
// - the maximum number is reached ("most").
//
// `steady`: repetitions are rounds, as defined in steady_state.h. The rounds before the first five
// that are steady for every measurement do not count: of them, measurements keep the rates only.
// After 25 rounds without a steady state there is none; the last ones are then the samples.
class Repetitions {
 public:
  // `agreed` turns this client's decision to end into that of all clients.
  using Agreed = std::function<bool(bool ends)>;
  Repetitions(std::uint32_t runs, const std::optional<AutoRuns>& automatic,
              Nanoseconds clock = now_ns, Agreed agreed = std::identity(), bool steady = false);

  // So many repetitions were made before (resumption.h). Call first.
  void resume(std::uint32_t repetitions) { run_ = resumed_ = repetitions; }

  // Starts the next repetition. Returns false if there is none, and then records the reason in
  // automatic measurements.
  bool next(std::span<Measurement* const> measurements);

  // The current one is unusable: one more takes its place, for at most as many as were wanted.
  // Automatic ones go on by themselves.
  void replace();

  std::uint32_t run() const { return run_; }  // the current one, from 1
  // The number of repetitions; 0 if not known in advance.
  std::uint32_t runs() const { return automatic_ || steady_ ? 0 : skipped_ + runs_; }
  // The number of repetitions, estimated for automatic ones.
  double expected() const {
    const double counting = skipped_ + (automatic_ ? expected_ : runs_);
    return steady_ ? std::max({counting, run_ + 1.0, kSteadyRounds * 1.0}) : counting;
  }

 private:
  enum class Rounds : std::uint8_t { before, steady, without };
  Rounds look_at_rounds(std::span<Measurement* const> measurements);
  std::uint32_t counted() const { return run_ - skipped_; }
  const char* why_end(std::span<const double> widths, double wanted);
  double elapsed_s() const;

  std::uint32_t wanted_, runs_, run_ = 0;
  std::optional<AutoRuns> automatic_;
  Agreed agreed_;
  Nanoseconds clock_;
  std::uint64_t began_ns_ = 0;
  double expected_ = 1;  // of automatic ones
  std::uint32_t resumed_ = 0;
  bool steady_ = false;        // still to be reached
  std::uint32_t skipped_ = 0;  // rounds before the steady state
};

// A time budget shared by groups of repetitions: each gets an equal part of the time left.
class SharedBudget {
 public:
  SharedBudget(const std::optional<AutoRuns>& automatic, std::size_t groups,
               Nanoseconds clock = now_ns);

  // The limits for the next group; nothing without automatic repetitions.
  std::optional<AutoRuns> next();

 private:
  std::optional<AutoRuns> automatic_;
  std::size_t groups_left_;
  Nanoseconds clock_;
  std::uint64_t began_ns_ = 0;
};

// The points of a repetition in the order of measurement. Of each `turns` consecutive ones, every
// repetition begins with the next.
std::vector<std::uint64_t> order_of_points(std::uint32_t run, std::uint64_t points,
                                           std::uint64_t turns);

// The order in which `volumes` volumes take turns. Every second repetition reverses it, so that
// drift affects all equally.
std::vector<std::size_t> turns_of(std::uint32_t run, std::size_t volumes);

// Tracks the measurements added to some results from now on. The results outlive it.
class NewMeasurements {
 public:
  // `begins`: by result, its measurements that count as old; empty: all there are.
  explicit NewMeasurements(std::span<Result* const> results,
                           std::span<const std::size_t> begins = {});

  // The new measurements of all results. Invalid once another one is added.
  std::vector<Measurement*> list() const;

 private:
  std::vector<std::pair<Result*, std::size_t>> begins_;
};

}  // namespace filereel
