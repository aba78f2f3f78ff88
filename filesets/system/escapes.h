// Paths and texts within a line of a file.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// Control bytes and the backslash are \xHH, blanks too where more follows on the line
// (Blanks::escaped); all other bytes stand as they are. unescape returns false for text that
// append_escaped does not make.
enum class Blanks : bool { escaped, kept };
void append_escaped(std::string_view bytes, Blanks blanks, std::string& out);
bool unescape(std::string_view text, Blanks blanks, std::string& out);

}  // namespace filereel
