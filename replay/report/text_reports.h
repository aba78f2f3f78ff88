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

}  // namespace filereel
