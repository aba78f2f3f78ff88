// Calls that map files into memory, and faults on what they mapped.
#pragma once

#include "traces/calls/call_parts.h"

namespace filereel {

// They own the count of pieces that each mapping has left. Address spaces change only here and at a
// fork: a mapping that an operation uses is there in the trace, and is unmapped with its last
// piece.
void map_call(CallParts& parts, CallContext& context);
void unmap_call(CallParts& parts, CallContext& context);
void remap_call(CallParts& parts, CallContext& context);
void mapped_call(CallParts& parts, CallContext& context);  // msync, madvise, a fault at an address
void fault_call(CallParts& parts, CallContext& context);

// `task` does not use its memory any more.
void leave_memory(CallParts& parts, Task& task, std::uint64_t at_ns);

}  // namespace filereel
