// The samples and figures of measurements that can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/statistics/rank_tests.h"

namespace filereel {

// --- Selects the comparable samples and figures of a measurement.

class Matching;

struct SampleSource {
  const Result* result = nullptr;
  const Measurement* measurement = nullptr;
  double begun_s = 0;  // of the result, since the epoch; 0 if unknown
};

// One measurement of one group of results.
struct PooledMeasurement {
  MeasurementKey key;
  bool paced = false;                  // a replay with recorded timing
  std::optional<PhaseEnd> ends;        // empty if the results do not say
  bool wrote = false;                  // has_written, in one of the results
  std::vector<const Sample*> samples;  // successful ones, in the order of results and runs
  std::vector<SampleSource> origins;   // one per sample
  // The sample of the control volume in the same run, one per sample; null if there is none.
  std::vector<const Sample*> controls;
  std::uint32_t failed = 0, no_data = 0;  // left out
  // The calls that failed in one of the results: then there are no samples. "" if the work was
  // done.
  std::string incomplete = {};
  // For each result that tells: the median share of all CPU time that other programs used, over all
  // its samples.
  std::vector<double> session_busy;
  std::vector<double> scales;           // of the plans, without duplicates
  std::vector<bool> without_direct_io;  // as far as the results tell, likewise
  std::vector<std::string> digests;     // of the work, as far as the results tell, likewise
};

// Those that `matching` does not leave out, in the order of their first occurrence. The samples
// live as long as `results`. `group`: their number in `matching`; nothing for other results.
std::vector<PooledMeasurement> gather(std::span<const Result> results, const Matching& matching,
                                      std::optional<std::size_t> group = std::nullopt);

// Whether the sample has a figure to compare.
bool has_figure(const Measurement& measurement, const Sample& sample);

// The figure that both sides have for the same work; otherwise `obstacle` gives the reason.
struct FigureChoice {
  Figure figure = Figure::durable;
  std::string obstacle;
  bool undone = false;  // the obstacle is that a side has failed calls
};
FigureChoice choose_figure(const PooledMeasurement& base, const PooledMeasurement& fresh);

// The figure of every sample, in seconds, above 0.
std::vector<double> figures_of(const PooledMeasurement& side, Figure figure);

// The same of the control's samples; empty unless each sample has one.
std::vector<double> control_figures_of(const PooledMeasurement& side, Figure figure);

// The summary of a side without a test.
ComparedSide side_of(const PooledMeasurement& side, Figure figure);

// The time in calls of a sample, over all threads. For paced operations this excludes the delay
// since their scheduled time.
double seconds_in_calls(const Sample& sample);

// The median share of all CPU time that other programs used during the samples of a result, 0 to 1.
// Empty if unknown.
std::optional<double> busy_share(const Result& result);

// The same during the samples of a measurement. If some are too short to tell, of all samples of
// their sessions.
std::optional<double> busy_share(const PooledMeasurement& side);

// --- The figures of one side of a comparison, by run and by state of the machine.

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
