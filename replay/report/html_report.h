// How this folder works: results are pooled by drive (pool.h) and put into one table (overview.h).
// conclusions.h draws conclusions from it, the same for all formats. The page gets everything as
// JSON from here, in parts from other files, such as ranking_data.h, embedded in a template whose
// scripts only draw. text_reports.h declares the other formats. Start with report_data() in
// html_report.cc.
//
// The report as an HTML page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "replay/compare/prediction_json.h"
#include "replay/report/pool.h"

namespace filereel {

// --- All data of the report page, as JSON. replay/report/page/ draws it and computes only
// positions.

// One line, safe inside a <script> element for any results, see script_safe.
// `predictions`: see html_report.
std::string report_data(ReportColumns columns, std::span<const StoredPrediction> predictions = {});

// Escapes the characters that could end a script element, open a comment in one, or end a line in
// old JavaScript as \uXXXX: < > & U+2028 U+2029. They occur only in strings.
std::string script_safe(std::string_view json);

// One self-contained HTML file: no network, no other files. Data of the results is embedded as
// data, never as markup or script. A content security policy allows only the page's own scripts.
// `predictions`: from these results; the page begins with them.
std::string html_report(ReportColumns columns, std::span<const StoredPrediction> predictions = {});

// The same page with any data: one line of JSON, safe as of script_safe.
std::string html_page(std::string_view title, std::string_view data);

}  // namespace filereel
