// How this folder works: results are pooled by drive (pool.h) and put into one table (overview.h).
// conclusions.h draws conclusions from it, the same for all formats. The page gets everything as
// JSON from here, in parts from other files, such as ranking_data.h; html_report.h embeds it in a
// template, whose scripts only draw. text_reports.h declares the other formats. Start with
// report_data() in report_data.cc.
//
// All data of the report page, as JSON. replay/report/page/ draws it and computes only positions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "replay/compare/prediction_json.h"
#include "replay/report/pool.h"

namespace filereel {

// One line, safe inside a <script> element for any results, see script_safe.
// `predictions`: see html_report.
std::string report_data(ReportColumns columns, std::span<const StoredPrediction> predictions = {});

// Escapes the characters that could end a script element, open a comment in one, or end a line in
// old JavaScript as \uXXXX: < > & U+2028 U+2029. They occur only in strings.
std::string script_safe(std::string_view json);

}  // namespace filereel
