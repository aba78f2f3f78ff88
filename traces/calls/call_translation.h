// Turns system calls into operations, one at a time, in the order in which it gets them. Which
// order that is, CallOrder decides.
#pragma once

#include <cstdint>

#include "traces/calls/call_parts.h"

namespace filereel {

// Makes the context of a call, leaves the call out if nothing comes of it, and hands it to the
// function that the table in call_translation.cc has for it.
void translate(CallParts& parts, const SystemCall& call, CallBeginning beginning);

// A call of `thread` that used `file` is over: closes it if all descriptors of it are closed by
// now.
void release(CallParts& parts, std::uint32_t thread, DescriptionRef file, std::uint64_t at_ns);

}  // namespace filereel
