// The names that strace writes for flags and errors, and their values on x86-64.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace filereel {

// Nothing for a name that no file system call needs.
std::optional<std::uint64_t> strace_constant(std::string_view name);

// errno by its name, ERESTARTSYS and its kin as EINTR; 0 if there is none of that name.
int strace_error(std::string_view name);

}  // namespace filereel
