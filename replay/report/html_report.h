// The report as an HTML page.
#pragma once

#include <span>
#include <string>

#include "replay/report/figures.h"

namespace filereel {

// One self-contained HTML file: no network, no other files. Data of the results is embedded as
// data, never as markup or script. A content security policy allows only the page's own scripts.
std::string html_report(std::span<const ReportedResult> results);

}  // namespace filereel
