// How often a part of a run is repeated: as often as asked, or until its figures are precise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/measure/clock.h"
#include "replay/results/result.h"

namespace filereel {

// Where a part of a run lies in the whole, both as shares of its work; for the progress display.
struct Stretch {
  double begin = 0, length = 1;

  // A part of this one, in shares of the whole.
  Stretch part(const Stretch& of) const { return {begin + length * of.begin, length * of.length}; }
};

using Nanoseconds = std::function<std::uint64_t()>;  // a clock

// The repetitions of some measurements that are made together. Automatic ones end when
// - every measurement that has a rate (MB/s until durable, else files/s, else operations/s) is as
//   precise as asked for ("precise"), in its rate and in its tail, or
// - one more, as long as those before it, would end after the budget ("budget"), or
// - there are as many as there may be ("most").
class Repetitions {
 public:
  Repetitions(std::uint32_t runs, const std::optional<AutoRuns>& automatic,
              Nanoseconds clock = now_ns);

  // Goes on to the next one. False if there is none: then it is noted in the measurements why, if
  // that was not known before.
  bool next(std::span<Measurement* const> measurements);

  std::uint32_t run() const { return run_; }  // the one in hand, from 1
  // How many there are; 0 if that shows in time.
  std::uint32_t runs() const { return automatic_ ? 0 : runs_; }
  // Where the one in hand lies among all; of automatic ones about.
  Stretch stretch() const;

 private:
  const char* why_end(std::span<const double> widths);
  double elapsed_s() const;

  std::uint32_t runs_, run_ = 0;
  std::optional<AutoRuns> automatic_;
  Nanoseconds clock_;
  std::uint64_t began_ns_ = 0;
  double expected_ = 1;  // how many there will be, about
};

// A time that groups of repetitions share: each gets its part of what those before it left.
class SharedBudget {
 public:
  SharedBudget(const std::optional<AutoRuns>& automatic, std::size_t groups,
               Nanoseconds clock = now_ns);

  // For the next group; nothing where nothing is automatic.
  std::optional<AutoRuns> next();

 private:
  std::optional<AutoRuns> automatic_;
  std::size_t groups_left_;
  Nanoseconds clock_;
  std::uint64_t began_ns_ = 0;
};

// Which volume's turn it is, and where that lies in the whole.
struct Turn {
  std::size_t volume = 0;
  Stretch stretch;
};

// The turns of so many volumes within a stretch: in every second repetition the other way round, so
// that what drifts hits all alike.
std::vector<Turn> turns_of(std::uint32_t run, std::size_t volumes, const Stretch& stretch);

// The measurements that are added to some results from now on. The results outlive it.
class NewMeasurements {
 public:
  explicit NewMeasurements(std::span<Result* const> results);

  // Those of all results, as long as no other one is added.
  std::vector<Measurement*> list() const;

 private:
  std::vector<std::pair<Result*, std::size_t>> begins_;
};

}  // namespace filereel
