// Turns system calls into operations, one at a time, in the order given. CallOrder decides that
// order.
#pragma once

#include <cstdint>

#include "traces/calls/call_parts.h"

namespace filereel {

// Creates the context of a call, drops the call if it yields nothing, and passes it to its handler
// in the table of call_translation.cc.
void translate(CallParts& parts, const SystemCall& call, CallStart beginning);

// A call of `thread` that used `file` has ended. Closes the file if all its descriptors are closed.
void release(CallParts& parts, std::uint32_t thread, DescriptionRef file, std::uint64_t at_ns);
void release(CallParts& parts, std::uint32_t thread, CallStart&& beginning, std::uint64_t at_ns);

}  // namespace filereel
