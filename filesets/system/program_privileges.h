// Privileges that the file of a program grants, and that a tracer may take from it.
#pragma once

#include <string>

namespace filereel {

// What the kernel does not grant to the program if this process traces it by ptrace: "set-user-ID",
// "set-group-ID", "capabilities", or several, separated by ", ". Empty if there is nothing, or if
// this process may trace any program (CAP_SYS_PTRACE). `command` is looked up in PATH.
std::string privileges_lost_to_tracing(const std::string& command);

}  // namespace filereel
