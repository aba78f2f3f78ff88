// Foreign text in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace filereel {

// `text` made safe for one line on a terminal: control bytes as \xHH, and no more than `max_bytes`
// of it, behind which "..." stands for the rest.
std::string printable(std::string_view text, std::size_t max_bytes = 120);

}  // namespace filereel
