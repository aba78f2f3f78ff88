// System calls, flags and commands whose meaning is known. All others are counted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "traces/calls/system_call.h"

namespace filereel {

// --- System calls that neither change files, names or descriptors of files nor move their data.
// Every call of Linux is in this table or in that of the calls that concern files (call_table.h),
// so that a call in neither of them is known to be a new one.

struct HarmlessCall {
  long number;  // SYS_* of this processor, or kNoNumber
  std::string_view name;
};

// Calls that only look at files, without reading them, are here, too (getcwd, name_to_handle_at).
std::span<const HarmlessCall> harmless_calls();
bool is_harmless_call(std::string_view name);
// Whether Linux has a call of this name, as far as is known here.
bool is_system_call(std::string_view name);

// --- The flags of each call whose meaning is known. A call with any other flag may do something
// else than its operation, which its result does not show: it is counted.

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

// Commands of fcntl and ioctl that neither change files nor descriptors. All others on files are
// counted.
bool is_harmless_fcntl(std::uint64_t command);
bool is_harmless_ioctl(std::uint64_t command);

}  // namespace filereel
