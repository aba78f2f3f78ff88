// Makes foreign text safe for a terminal: names, labels, models, output of other programs.
// Characters that could change the terminal's state or the order of its output are escaped: \xHH
// for a control byte or a byte that is not UTF-8, \uHHHH for a character (C1 controls, line
// separators, directional and invisible characters).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace filereel {

// Returns about `max_bytes` of `text` at most, safe for one line. "..." replaces the rest.
std::string printable(std::string_view text, std::size_t max_bytes = 120);

// The same without a limit.
std::string printable_line(std::string_view text);

// The whole text; newlines and tabs are kept.
std::string printable_lines(std::string_view text);

// --- Escapes paths and texts for use within a line of a file.

// Control bytes and the backslash become \xHH, as do blanks if more text follows on the line
// (Blanks::escaped). All other bytes stay unchanged. unescape returns false for text not produced
// by append_escaped.
enum class Blanks : bool { escaped, kept };
void append_escaped(std::string_view bytes, Blanks blanks, std::string& out);
bool unescape(std::string_view text, Blanks blanks, std::string& out);

}  // namespace filereel
