// The messages of libbpf and the kernel's verifier about a rejected program, in one line.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// The first line of the log, which names the program, and the last lines, which give the reason.
std::string summarise_bpf_log(std::string_view log);

}  // namespace filereel
