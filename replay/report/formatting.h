// Formats figures for reports.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replay/results/failures.h"
#include "replay/results/metrics.h"
#include "replay/results/result.h"

namespace filereel {

// Intervals that contain the spread which sessions are assumed to have, in headings of columns.
// Those of the runs alone are "95 % interval".
inline constexpr std::string_view kBetweenSessions = "95 %, sessions";

// With a capital letter, and with an end unless it has a full stop.
std::string sentence_of(std::string text, std::string_view end = ".");

// With its unit, unless it is in the column heading: "123", "1.2 ms", "34 %".
std::string figure_text(Unit unit, double figure);

// "34 %".
std::string share_text(double share);

// The name of a measurement without its file system: "create install", "app.reel", "random-read,
// depth 4".
std::string subject_of(const Measurement& measurement);

// "154 of 8481": the number of results of a replay that differ from the trace, of all samples.
std::string divergences_text(const Measurement& measurement);

// The same as a clause: "154 of 8481 results differ in 3 runs".
std::string differing_text(const Measurement& measurement);

// " in 3 runs"; "" for a single one.
std::string in_runs(const Differences& all);

// "4 clients on 2 hosts", "2 to 8 clients on 1 host": of the samples of several clients; "" without
// such samples.
std::string clients_text(std::span<const Measurement* const> measurements);

// The step on a set: "create", "create, threads 4"; preceded by the job's name if that differs from
// its kind's: "cached read".
std::string step_of(const Measurement& measurement);

}  // namespace filereel
