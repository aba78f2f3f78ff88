#include "replay/compare/control.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/search.h"
#include "replay/compare/changes.h"
#include "replay/compare/machine_change.h"
#include "replay/compare/sessions.h"
#include "replay/compare/side_figures.h"
#include "replay/results/file_systems.h"

namespace filereel {
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
      for (VolumeDescription& one : controls.back().volumes) {
        one.used.reset();  // a disk in use fills slowly, and stays the same control
        one.features_unknown.clear();
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
  const VolumeDescription *one = near_of(result), *other = near_of(result.control.front());
  return !one || !other || same_kind_of_storage(*one, *other);
}

bool all_on_the_same_kind(std::span<const ControlledPair> pairs) {
  std::set<const Result*> results;
  for (const ControlledPair& pair : pairs) {
    for (const PooledMeasurement* side : {pair.base, pair.fresh}) {
      for (const SampleSource& origin : side->origins) results.insert(origin.result);
    }
  }
  return std::ranges::all_of(results, [](const Result* one) { return control_fits(*one); });
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
