// Formats figures for reports.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/failures.h"
#include "replay/results/metrics.h"
#include "replay/results/result.h"

namespace filereel {

// With a capital letter, and with an end unless it has a full stop.
std::string sentence_of(std::string text, std::string_view end = ".");

// With its unit, unless it is in the column heading: "123", "1.2 ms", "34 %".
std::string figure_text(Unit unit, double figure);

// The range shown with a median: its 95 % interval, otherwise, of too few samples, the extremes.
Interval range_of(const Spread& spread);

// "34 %".
std::string share_text(double share);

// "5 runs each"; for automatic repetitions their numbers and the reason why they ended.
std::string describe_runs(const Result& result);

// The settings of the jobs, with their names if there are several; jobs with equal settings share a
// text: "fc-test: scale 0.4, block size 128 KiB, cold caches".
std::vector<std::string> describe_settings(const Result& result);

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
