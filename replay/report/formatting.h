// Formats figures for reports.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replay/results/metrics.h"
#include "replay/results/result.h"

namespace filereel {

// About three significant digits, at most two decimals: "0.12", "9.99", "12.3", "1234".
std::string rate_text(double value);

// With its unit, unless it is in the column heading: "123", "1.2 ms", "34 %".
std::string figure_text(Unit unit, double figure);

// "34 %".
std::string share_text(double share);

// The name of a measurement without its file system: "create install", "app.reel", "random-read,
// depth 4".
std::string subject_of(const Measurement& measurement);

// "154 of 8481": the number of results of a replay that differ from the trace, the maximum over the
// samples.
std::string divergences_text(const Measurement& measurement);

// The same as a clause: "154 of 8481 results differ".
std::string differing_text(const Measurement& measurement);

// "4 clients on 2 hosts", "2 to 8 clients on 1 host": of the samples of several clients; "" without
// such samples.
std::string clients_text(std::span<const Measurement* const> measurements);

// The step on a set: "create", "create, threads 4"; preceded by the job's name if that differs from
// its kind's: "cached read".
std::string step_of(const Measurement& measurement);

}  // namespace filereel
