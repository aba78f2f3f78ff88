// From two sides' figures to a verdict.
#pragma once

#include <optional>
#include <span>

#include "replay/compare/comparison.h"

namespace filereel {

// What is known of a measurement before all of them are judged together.
struct Tested {
  ComparedMeasurement row;
  // How far each side moved by itself: the median of its second half by that of the first.
  double base_moves = 1, fresh_moves = 1;
  // Shares of all processors' time that other programs and the virtual machine's host took, medians
  // of each side, 0 to 1; nothing where the machine does not say.
  std::optional<double> base_busy, fresh_busy;
  bool disturbed = false;  // one of these could be all there is to a difference
};

// Fills ratio and p of a row whose figure is chosen. Neither side is empty.
void test_figures(std::span<const double> base, std::span<const double> fresh, Tested& tested);

// Corrects the probabilities of all rows that were tested and decides them.
void judge(std::span<Tested> rows, const CompareOptions& options);

}  // namespace filereel
