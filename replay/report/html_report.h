// The report as an HTML page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "replay/compare/prediction_json.h"
#include "replay/report/pool.h"

namespace filereel {

// One self-contained HTML file: no network, no other files. Data of the results is embedded as
// data, never as markup or script. A content security policy allows only the page's own scripts.
// `predictions`: from these results; the page begins with them.
std::string html_report(ReportColumns columns, std::span<const StoredPrediction> predictions = {});

// The same page with any data: one line of JSON, safe as of script_safe.
std::string html_page(std::string_view title, std::string_view data);

}  // namespace filereel
