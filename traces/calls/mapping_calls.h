// Calls that map files into memory, and page faults in those mappings.
#pragma once

#include "traces/calls/call_translation.h"

namespace filereel {

// These functions own the count of remaining pieces of each mapping. Address spaces change only
// here and at a fork. A mapping used by an operation exists in the trace; it is unmapped with its
// last piece.
void map_call(CallParts& parts, CallContext& context);
void unmap_call(CallParts& parts, CallContext& context);
void remap_call(CallParts& parts, CallContext& context);
void mapped_call(CallParts& parts, CallContext& context);  // msync, madvise, a fault at an address
void fault_call(CallParts& parts, CallContext& context);

// `task` no longer uses its memory.
void leave_memory(CallParts& parts, Task& task, std::uint64_t at_ns);

}  // namespace filereel
