// Everything that the page of a report shows, as JSON: replay/report/page/ draws it and computes
// nothing but positions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "replay/report/figures.h"

namespace filereel {

// One line, safe inside a <script> element whatever the results hold: see script_safe.
std::string report_data(std::span<const ReportedResult> results);

// The JSON text with the characters that could end a script element, open a comment in one, or end
// a line in old JavaScript, written as \uXXXX: < > & U+2028 U+2029. They stand in strings only.
std::string script_safe(std::string_view json);

}  // namespace filereel
