// The choice whether a comparison uses its control volume (sessions.h).
#pragma once

#include <span>

#include "replay/compare/comparison.h"
#include "replay/compare/work.h"

namespace filereel {

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
