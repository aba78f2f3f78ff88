// The figures of one side of a comparison, by run and by state of the machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "replay/compare/work.h"
#include "replay/statistics/shift.h"

namespace filereel {

// Seconds between the starts of sessions. Those of less are a single draw of the state of machine
// and drive (sessions.h).
inline constexpr double kSameState = 600;

// The figures of one side, by sample, all above 0.
struct SideFigures {
  const PooledMeasurement* of = nullptr;
  std::vector<double> values;
  std::vector<double> control = {};  // of the control's samples; empty: none, or not to be used
};

SideFigures side_figures(const PooledMeasurement& side, Figure figure);

std::vector<double> logarithms(std::span<const double> values);

// The logarithms of the figures; `controlled`: relative to those of the control.
std::vector<double> logarithms_of(const SideFigures& side, bool controlled);

// The starts of the sessions of all samples, in seconds.
std::vector<double> begins_of(const PooledMeasurement& side);

// One figure for each state, the median of its values. A state is that of the sessions that begin
// within kSameState of the first one. `begins`: of the session of each value, in seconds.
std::vector<double> figures_by_state(std::span<const double> begins,
                                     std::span<const double> values);

// The spread between states, from the deviations within groups.
struct StateSpread {
  double squares = 0, freedom = 0;

  // Figures of states between which nothing else differs.
  void add(std::span<const double> figures);
  double variance_of_state() const { return squares / freedom; }
};

// The standard error of the logarithm of a ratio due to runs alone: from its interval by ranks,
// which outliers do not widen; with few runs from their variance. `base`, `fresh`: logarithms.
double error_of_runs(const Ratio& ratio, std::span<const double> base,
                     std::span<const double> fresh);

}  // namespace filereel
