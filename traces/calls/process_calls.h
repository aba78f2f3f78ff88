// Calls that start, change and end threads and processes.
#pragma once

#include <cstdint>

#include "traces/calls/call_translation.h"

namespace filereel {

// Tasks are created and removed only here. Each task has descriptors, surroundings and memory,
// shared as clone specifies. When a task ends, what it used last is closed and unmapped.
void fork_call(CallParts& parts, CallContext& context);
void unshare_call(CallParts& parts, CallContext& context);
void exec_call(CallParts& parts, CallContext& context);
void wait_call(CallParts& parts, CallContext& context);
void waited_call(CallParts& parts, CallContext& context);
void woke_call(CallParts& parts, CallContext& context);
void umask_call(CallParts& parts, CallContext& context);
// The context's task no longer exists after these.
void exit_call(CallParts& parts, CallContext& context);
void exit_group_call(CallParts& parts, CallContext& context);

// A process that existed before the trace, with all its threads and open files.
void begin_process(CallParts& parts, const KnownProcess& process);
// The calling task, created if necessary; null: a task that has ended.
Task* task_of(CallParts& parts, const SystemCall& call);
// End of the trace.
void end_all_tasks(CallParts& parts, std::uint64_t at_ns);

}  // namespace filereel
