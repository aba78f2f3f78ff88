// The page's template with its style and scripts, embedded at build time (cmake/report_page.cmake).
#pragma once

#include <string_view>

namespace filereel {

// HTML with the placeholders @TITLE@ and @DATA@, each once.
std::string_view report_page();

}  // namespace filereel
