// The messages of libbpf and the kernel's verifier about a rejected program, in one line.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// The name of the rejected program, and the last line of the verifier, which gives the reason.
// libbpf's own lines only say that something failed.
std::string summarise_bpf_log(std::string_view log);

}  // namespace filereel
