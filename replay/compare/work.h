// The samples of one measurement that can be compared, and what of them is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"

namespace filereel {

struct SampleOrigin {
  const Result* result = nullptr;
  const Measurement* measurement = nullptr;
};

// One measurement of one group of results.
struct Gathered {
  MeasurementKey key;
  bool paced = false;                     // a replay that keeps recorded times
  std::optional<PhaseEnd> ends;           // nothing where the results do not say
  std::vector<const Sample*> samples;     // that succeeded, in the order of results and runs
  std::vector<SampleOrigin> origins;      // of the samples, one each
  std::uint32_t failed = 0, no_data = 0;  // left out
  std::vector<double> scales;             // of the plans, each once
};

// In the order of their first appearance. The samples live as long as `results`. `across`: whatever
// the file system, which the keys then leave out.
std::vector<Gathered> gather(std::span<const Result> results, bool across = false);

// Which figure both sides have for the same work; if they have none, `obstacle` says why not.
struct FigureChoice {
  Figure figure = Figure::durable;
  std::string obstacle;
};
FigureChoice choose_figure(const Gathered& base, const Gathered& fresh);

// The figure of every sample, in seconds, above 0.
std::vector<double> figures_of(const Gathered& side, Figure figure);

// What there is to say of them without a test. `figures` are those of figures_of.
ComparedSide side_of(const Gathered& side, std::span<const double> figures);

// The time in calls of a sample, of all threads together: in the calls themselves where paced ones
// count from when they were due.
double seconds_in_calls(const Sample& sample);

// The median share of all processors' time that others took during the samples, 0 to 1;
// nothing where that is not known.
std::optional<double> busy_share(const Gathered& side);

}  // namespace filereel
