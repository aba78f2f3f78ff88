// Calls that begin, change and end threads and processes.
#pragma once

#include <cstdint>

#include "traces/calls/call_parts.h"

namespace filereel {

// Tasks come and go only here. Each has descriptors, surroundings and memory, shared with others as
// clone says; what a task was the last to have is closed and unmapped when it ends.
void fork_call(CallParts& parts, CallContext& context);
void unshare_call(CallParts& parts, CallContext& context);
void exec_call(CallParts& parts, CallContext& context);
void wait_call(CallParts& parts, CallContext& context);
void umask_call(CallParts& parts, CallContext& context);
// The context's task is gone after these.
void exit_call(CallParts& parts, CallContext& context);
void exit_group_call(CallParts& parts, CallContext& context);

// A process that was there before the trace, with all its threads and open files.
void begin_process(CallParts& parts, const KnownProcess& process);
// Who makes the call, a new one if it has to be; null: one that has ended.
Task* task_of(CallParts& parts, const SystemCall& call);
// The trace ends.
void end_all_tasks(CallParts& parts, std::uint64_t at_ns);

}  // namespace filereel
