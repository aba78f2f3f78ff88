// The report as an HTML page.
#pragma once

#include <string>

#include "replay/report/pool.h"

namespace filereel {

// One self-contained HTML file: no network, no other files. Data of the results is embedded as
// data, never as markup or script. A content security policy allows only the page's own scripts.
std::string html_report(ReportColumns columns);

}  // namespace filereel
