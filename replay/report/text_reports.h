// Reports for other programs and for texts.
#pragma once

#include <span>
#include <string>

#include "replay/report/figures.h"

namespace filereel {

// All samples, a row each, after RFC 4180 but with plain newlines: the first row names the columns.
// An empty cell is a figure that the sample does not have. Where a spreadsheet would take a text
// for a formula, an apostrophe stands before it.
std::string samples_csv(std::span<const ReportedResult> results);

// Tables of the medians with what one needs to read them, in GitHub's Markdown.
std::string markdown_report(std::span<const ReportedResult> results);

// Samples as Google Benchmark writes repetitions, for its compare.py: the time until durable of
// FC-Test and of replays until the last call returned is the time of one iteration; of other
// workloads an operation is one. What failed is left out.
std::string google_benchmark_json(const Result& result);

}  // namespace filereel
