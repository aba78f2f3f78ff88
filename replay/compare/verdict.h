// From two sides' figures to a verdict.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "replay/compare/comparison.h"

namespace filereel {

// One aspect of a measurement, tested and not yet judged.
struct Question {
  Aspect aspect = Aspect::time;
  Answer answer;
  double least = 0.02;  // the smallest change that matters, as a share
  // How far each side moved by itself: the median of its second half by that of the first.
  double base_moves = 1, fresh_moves = 1;
  // Of latencies: how long they are, in nanoseconds, where they are longer.
  double latency_ns = 0;
};

// What is known of a measurement before all of them are judged together.
struct Tested {
  ComparedMeasurement row;
  std::vector<Question> questions;
  // Shares of all processors' time that other programs and the virtual machine's host took, medians
  // of each side, 0 to 1; nothing where the machine does not say.
  std::optional<double> base_busy, fresh_busy;
  bool disturbed = false;  // something else could be all there is to a difference
};

// Tests figures of runs, all above 0, in their order. Neither side is empty.
Question ask(Aspect aspect, std::span<const double> base, std::span<const double> fresh);

// Corrects the probabilities of all that was tested and decides the rows.
void judge(std::span<Tested> rows, const CompareOptions& options);

}  // namespace filereel
