// Escapes paths and texts for use within a line of a file.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// Control bytes and the backslash become \xHH, as do blanks if more text follows on the line
// (Blanks::escaped). All other bytes stay unchanged. unescape returns false for text not produced
// by append_escaped.
enum class Blanks : bool { escaped, kept };
void append_escaped(std::string_view bytes, Blanks blanks, std::string& out);
bool unescape(std::string_view text, Blanks blanks, std::string& out);

}  // namespace filereel
