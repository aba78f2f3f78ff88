// strace's names of flags and errors, with their values in a trace: those of x86-64.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace filereel {

// Nullopt for a name not needed by any file system call.
std::optional<std::uint64_t> strace_constant(std::string_view name);

// errno by name, ERESTARTSYS and similar ones as EINTR; 0 for an unknown name.
int strace_error(std::string_view name);

}  // namespace filereel
