#include "replay/compare/control.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/search.h"
#include "replay/compare/changes.h"
#include "replay/compare/compared_figures.h"
#include "replay/compare/sessions.h"
#include "replay/results/file_systems.h"
#include "replay/statistics/rank_tests.h"

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

double variance_of(const RunsChange& change) {
  return squared(std::max(change.error, kLeastError));
}

struct WeightedMean {
  double mean = 0, weights = 0, squares = 0;  // sums of the weights and of their squares
};

// Weighted by precision.
WeightedMean mean_of(std::span<const RunsChange> changes, double spread) {
  WeightedMean sums;
  for (const RunsChange& run : changes) {
    const double weight = 1 / (variance_of(run) + spread);
    sums.mean += weight * run.change;
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
  for (const RunsChange& change : changes) {
    beyond += squared(change.change - alike.mean) / variance_of(change);
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

namespace {

// The volumes of the controls of a side, without their measurements.
std::vector<Result> controls_of(std::span<const ControlledPair> pairs,
                                const PooledMeasurement* ControlledPair::* side) {
  std::set<const Result*> seen;
  std::vector<Result> controls;
  for (const ControlledPair& pair : pairs) {
    for (const SampleSource& origin : (pair.*side)->origins) {
      if (origin.result->control.empty() || !seen.insert(origin.result).second) continue;
      const Result& control = origin.result->control.front();
      controls.push_back(control.of_same_run());
      controls.back().volumes = control.volumes;
      controls.back().host = {};  // compare has its changes already
      controls.back().version.clear();
      controls.back().plan = {};
      for (VolumeDescription& volume : controls.back().volumes) {
        volume.used.reset();  // a disk in use fills slowly, and stays the same control
        volume.features_unknown.clear();
      }
    }
  }
  return controls;
}

const VolumeDescription* near_of(const Result& result) {
  return find_or_null(result.volumes, Role::near, &VolumeDescription::role);
}

bool control_fits(const Result& result) {
  if (result.control.empty()) return true;
  const VolumeDescription *volume = near_of(result), *other = near_of(result.control.front());
  return !volume || !other || same_kind_of_storage(*volume, *other);
}

bool all_on_the_same_kind(std::span<const ControlledPair> pairs) {
  std::set<const Result*> results;
  for (const ControlledPair& pair : pairs) {
    for (const PooledMeasurement* side : {pair.base, pair.fresh}) {
      for (const SampleSource& origin : side->origins) results.insert(origin.result);
    }
  }
  return std::ranges::all_of(results, [](const Result* result) { return control_fits(*result); });
}

// Sums over all measurements.
struct ControlSums {
  std::vector<RunsChange> changes;
  double square = 0, noise = 0;                  // of the control's changes; of their errors
  double own_square = 0, own_noise = 0;          // the same of the volume
  double plain = 0, corrected = 0, freedom = 0;  // squared deviations of states

  void add(const SideFigures& base, const SideFigures& fresh) {
    const RunsChange own = change_of(base.values, fresh.values),
                     control = change_of(base.control, fresh.control);
    changes.push_back(control);
    square += control.change * control.change;
    noise += control.error * control.error;
    own_square += own.change * own.change;
    own_noise += own.error * own.error;
    for (const SideFigures* side : {&base, &fresh}) {
      StateSpread with, without;
      const std::vector<double> begins = begins_of(*side->of);
      with.add(figures_by_state(begins, logarithms_of(*side, true)));
      without.add(figures_by_state(begins, logarithms_of(*side, false)));
      corrected += with.squares;
      plain += without.squares;
      freedom += with.freedom;
    }
  }
};

}  // namespace

ControlUse control_between(std::span<const ControlledPair> pairs) {
  ControlUse use;
  ControlSums sums;
  bool one_side = false;
  for (const ControlledPair& pair : pairs) {
    if (took_turns(*pair.base, *pair.fresh)) continue;
    const SideFigures base = side_figures(*pair.base, pair.figure),
                      fresh = side_figures(*pair.fresh, pair.figure);
    one_side = one_side || base.control.empty() != fresh.control.empty();
    if (!base.control.empty() && !fresh.control.empty()) sums.add(base, fresh);
  }
  if (sums.changes.empty()) {
    if (one_side) use.obstacle = "not all results have a control volume";
    return use;
  }
  constexpr double kBeyondNoise = 9, kFarBeyond = 36;  // three and six standard errors, squared
  use.machine = machine_change(sums.changes);
  const std::vector<Change> changes = changes_between(controls_of(pairs, &ControlledPair::base),
                                                      controls_of(pairs, &ControlledPair::fresh));
  const auto measurements = static_cast<double>(sums.changes.size());
  if (!changes.empty()) {
    use.obstacle = fmt::format("the control volumes differ: {}: {} -> {}", changes.front().what,
                               changes.front().base, changes.front().fresh);
  } else if (sums.square > kFarBeyond * sums.noise &&
             sums.own_square <= kBeyondNoise * sums.own_noise) {
    use.obstacle = fmt::format("it changed by {:+.1f} %, but the volume under test did not change",
                               (use.change() - 1) * 100);
  } else if (sums.freedom >= kLeastFreedom * measurements) {
    if (sums.corrected >= sums.plain) {
      use.obstacle = "the volume under test does not vary with it from session to session";
    }
  } else if (!all_on_the_same_kind(pairs)) {
    use.obstacle =
        "it is on another kind of storage, and there are too few sessions to show that it helps";
  }
  use.used = use.obstacle.empty();
  return use;
}

}  // namespace filereel
