// The flags of each call whose meaning is known. A call with any other flag may do something else
// than its operation, which its result does not show: it is counted.
#pragma once

#include <cstdint>

#include "traces/calls/system_call.h"

namespace filereel {

// Flags that the headers of Debian 12 lack; the same on all processors.
namespace call_flags {
inline constexpr std::uint64_t kNoAppend = 0x20;      // RWF_NOAPPEND
inline constexpr std::uint64_t kAtomic = 0x40;        // RWF_ATOMIC
inline constexpr std::uint64_t kDontCache = 0x80;     // RWF_DONTCACHE
inline constexpr std::uint64_t kNoSignal = 0x100;     // RWF_NOSIGNAL
inline constexpr std::uint64_t kExecCheck = 0x10000;  // AT_EXECVE_CHECK
}  // namespace call_flags

// Whether the flags of the call, or its RESOLVE_*, contain one whose meaning is unknown.
bool has_unknown_flags(const SystemCall& call);

}  // namespace filereel
