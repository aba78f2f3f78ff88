// What libbpf and the kernel's verifier said of a program that was refused, in one line.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// The first line of the log, which names the program, and the last ones, which say why.
std::string last_words(std::string_view log);

}  // namespace filereel
