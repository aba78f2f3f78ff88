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
