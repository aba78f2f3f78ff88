// Decides verdicts from the figures of two sides.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/compare/sessions.h"

namespace filereel {

// The evidence that a measurement is slower or faster, for the deciding aspect and the others with
// the same verdict: "41 stalls over 50 ms in 10 runs (0.1 % of operations, 9 % of the time), 0
// before".
std::string evidence_of(const ComparedMeasurement& compared);

// One tested aspect of a measurement, before the decision.
struct AspectTest {
  Aspect aspect = Aspect::time;
  AspectResult answer;
  SessionEvidence evidence = {};
  double least = 0.02;  // the smallest change that matters, as a share
  // The drift of each side: the median of its second half divided by that of the first.
  double base_drift = 1, fresh_drift = 1;
  // For latency aspects: the larger latency of the two sides, in nanoseconds.
  double latency_ns = 0;
};

// A measurement before all are decided together.
struct PendingComparison {
  ComparedMeasurement row;
  std::vector<AspectTest> questions;
  // Shares of all CPU time used by other programs and the virtual machine's host, medians of each
  // side, 0 to 1; empty if unknown.
  std::optional<double> base_busy, fresh_busy;
  std::optional<Aspect> disturbed = {};  // a difference that may have another cause, the first one
};

// Tests the figures of both sides; neither is empty. `earlier`, `machine`: see evidence_for.
AspectTest ask(Aspect aspect, const SideFigures& base, const SideFigures& fresh,
               std::span<const SideFigures> earlier = {}, const MachineChange* machine = nullptr);

// Corrects the p values of all tests and decides the rows.
void judge(std::span<PendingComparison> rows, const CompareOptions& options);

}  // namespace filereel
