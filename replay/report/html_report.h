// The report as one page.
#pragma once

#include <span>
#include <string>

#include "replay/report/figures.h"

namespace filereel {

// One HTML file that needs nothing else: no network, no other file. What the results hold is data
// in it and never markup or script; a content security policy allows the page's own script alone.
std::string html_report(std::span<const ReportedResult> results);

}  // namespace filereel
