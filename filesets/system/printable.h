// Foreign text on a terminal: names, labels, models, what other programs said. Whatever could
// change the terminal's state or the order of what it shows is written as an escape: \xHH for a
// control byte or one that is not UTF-8, \uHHHH for a character (C1 controls, line separators,
// directions of writing, invisible ones).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace filereel {

// `text` made safe for one line, and no more than about `max_bytes` of it, behind which "..."
// stands for the rest.
std::string printable(std::string_view text, std::size_t max_bytes = 120);

// The same without a limit.
std::string printable_line(std::string_view text);

// The whole text, whose line ends and tabs are kept.
std::string printable_lines(std::string_view text);

}  // namespace filereel
