// How reports write figures down.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replay/results/metrics.h"
#include "replay/results/result.h"

namespace filereel {

// Three significant digits as far as they mean anything: "0.12", "9.99", "12.3", "1234".
std::string rate_text(double value);

// With its unit where a column does not say it: "123", "1.2 ms", "34 %".
std::string figure_text(Unit unit, double figure);

// "34 %".
std::string share_text(double share);

// What a measurement is of, without where: "create install", "app.reel", "random-read, depth 4".
std::string subject_of(const Measurement& measurement);

// "154 of 8481": how many results of a replay were others than in the trace, the most of any
// sample.
std::string divergences_text(const Measurement& measurement);

// What is done to a set: "create", "create, threads 4"; with the job's name before it where that is
// another one than its kind's: "cached read".
std::string step_of(const Measurement& measurement);

}  // namespace filereel
