// Reports in text formats, for other programs and documents.
#pragma once

#include <span>
#include <string>

#include "replay/compare/prediction_json.h"
#include "replay/report/figures.h"
#include "replay/report/pool.h"

namespace filereel {

// All samples, a row each, as in RFC 4180 but with plain newlines. The first row names the columns.
// Missing figures are empty cells. An apostrophe precedes texts that a spreadsheet would take for a
// formula.
std::string samples_csv(std::span<const ReportedResult> results);

// The conclusions of the page, and tables of the medians with the information to interpret them, in
// GitHub's Markdown. `predictions`: see html_report.
std::string markdown_report(const ReportColumns& columns,
                            std::span<const StoredPrediction> predictions = {});

// Samples in the format of Google Benchmark's repetitions, for its compare.py. For FC-Test an
// iteration is the time of its MB/s (rate_time), for replays the time until the last call returned,
// for other workloads one operation. Failed samples are left out.
std::string google_benchmark_json(const Result& result);

}  // namespace filereel
