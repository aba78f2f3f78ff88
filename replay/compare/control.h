// The machine's share of a difference: what changed on it, and what a control volume shows.
#pragma once

#include <span>

#include "replay/compare/compared_figures.h"
#include "replay/compare/comparison.h"

namespace filereel {

// --- The machine's share of a change, from the changes of a control volume.
//
// The problem. The control's change in a measurement is that of the machine, and noise: its own
// runs vary as much as those of the volume. Taking away only that change makes the error of a ratio
// 1.4 times as large. But the machine does much the same to all operations (the control's changes
// in two of them have a correlation of 0.4 to 0.9), so that the other measurements say something
// about it, too.
//
// The answer. The control's changes have a typical value and a spread between measurements beyond
// what runs explain (DerSimonian and Laird, "Meta-analysis in clinical trials", 1986). The
// machine's change in one measurement is a weighted mean of the control's own change in it and the
// typical one (the best linear unbiased prediction). With the spread T², the errors v of the
// control's change, s of the ratio of runs, r of the volume's own ratio, and e of the typical
// change (all squared), the weights are
//
//   w = T² / (T² + v)             of the own change as far as it differs from the typical one,
//   g = w + (1 - w) e / (T² + v)  of the own change in all, since it is part of the typical one,
//
// and the squared error of the corrected ratio is r + g (s - r - v) + w v + (1 - w)² e. The term in
// s is what volume and control have in common in the same turn.
//
// Where the control's runs hardly vary, or a single measurement is compared, this is the plain
// ratio of the runs. docs/compare.md has what it finds.

// A change as a logarithm, and its standard error due to runs.
struct RunsChange {
  double change = 0, error = 0;
};

// Of figures by run, all above 0; neither side is empty.
RunsChange change_of(std::span<const double> base, std::span<const double> fresh);

// `changes`: of the control in all measurements, at least one.
MachineChange machine_change(std::span<const RunsChange> changes);

// A ratio without the machine's share, as logarithms.
struct CorrectedRatio {
  double ratio = 0;
  double error = 0;    // standard error due to runs
  double machine = 0;  // what was taken away
};

// Both sides have control figures. Without `machine`, the control's change in this measurement
// alone is taken away.
CorrectedRatio corrected_ratio(const SideFigures& base, const SideFigures& fresh,
                               const MachineChange* machine);

// --- The choice whether a comparison uses its control volume (sessions.h).

// The measurements of both sides, for what all of them say about the control.
struct ControlledPair {
  const PooledMeasurement* base = nullptr;
  const PooledMeasurement* fresh = nullptr;
  Figure figure = Figure::durable;
};

// Whether the control is used for all measurements, and what it says about the machine.
//
// A control that carries the machine's share changes as the volumes do. It is not used if it
// changed by more than its runs can explain, and the volume, over all measurements, did not: that
// the volume became slower by just as much as the machine became faster is improbable. With enough
// sessions, it is used if the ratios vary less than the figures themselves. Otherwise volume and
// control must be on the same kind of storage: an image in memory follows nothing that a disk does
// while it reads (correlation of the sessions' medians 0.1), a second image on the disk follows all
// of it (0.95).
ControlUse control_between(std::span<const ControlledPair> pairs);

}  // namespace filereel
