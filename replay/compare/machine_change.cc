#include "replay/compare/machine_change.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "replay/statistics/shift.h"

namespace filereel {
namespace {

// Runs of simulated or paced work may not vary at all.
constexpr double kLeastError = 1e-6;

double squared(double value) {
  return value * value;
}

std::vector<double> relative_to_control(const SideFigures& side) {
  std::vector<double> ratios = side.values;
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= side.control[i];
  return ratios;
}

double variance_of(const RunsChange& one) {
  return squared(std::max(one.error, kLeastError));
}

struct WeightedMean {
  double mean = 0, weights = 0, squares = 0;  // sums of the weights and of their squares
};

// Weighted by precision.
WeightedMean mean_of(std::span<const RunsChange> changes, double spread) {
  WeightedMean sums;
  for (const RunsChange& one : changes) {
    const double weight = 1 / (variance_of(one) + spread);
    sums.mean += weight * one.change;
    sums.weights += weight;
    sums.squares += weight * weight;
  }
  sums.mean /= sums.weights;
  return sums;
}

}  // namespace

RunsChange change_of(std::span<const double> base, std::span<const double> fresh) {
  const Ratio ratio = ratio_of(base, fresh);
  return {std::log(ratio.estimate), error_of_runs(ratio, logarithms(base), logarithms(fresh))};
}

MachineChange machine_change(std::span<const RunsChange> changes) {
  const WeightedMean alike = mean_of(changes, 0);
  double beyond = -static_cast<double>(changes.size() - 1);  // the deviations that runs explain
  for (const RunsChange& one : changes) {
    beyond += squared(one.change - alike.mean) / variance_of(one);
  }
  // 0 for a single measurement.
  const double scale = alike.weights - alike.squares / alike.weights;
  const double spread = changes.size() > 1 ? std::max(0.0, beyond / scale) : 0;
  const WeightedMean mean = mean_of(changes, spread);
  return {.typical = mean.mean, .error = 1 / std::sqrt(mean.weights), .spread = std::sqrt(spread)};
}

CorrectedRatio corrected_ratio(const SideFigures& base, const SideFigures& fresh,
                               const MachineChange* machine) {
  const RunsChange control = change_of(base.control, fresh.control);
  const RunsChange runs = change_of(relative_to_control(base), relative_to_control(fresh));
  if (!machine) return {.ratio = runs.change, .error = runs.error, .machine = control.change};
  const RunsChange volume = change_of(base.values, fresh.values);
  const double of_control = variance_of(control), of_volume = squared(volume.error),
               of_runs = squared(runs.error), of_typical = squared(machine->error);
  const double all = squared(machine->spread) + of_control;
  const double own = squared(machine->spread) / all;
  const double in_all = own + (1 - own) * of_typical / all;
  const double removed = own * control.change + (1 - own) * machine->typical;
  const double error = of_volume + in_all * (of_runs - of_volume - of_control) + own * of_control +
                       squared(1 - own) * of_typical;
  // By chance, the errors of few runs can contradict each other.
  constexpr double kLeastShare = 0.25;
  return {.ratio = runs.change + control.change - removed,
          .error = std::sqrt(std::max(error, kLeastShare * std::min(of_runs, of_volume))),
          .machine = removed};
}

}  // namespace filereel
