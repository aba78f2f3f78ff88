// System calls from events of the kernel program.
#pragma once

#include "traces/calls/call_arguments.h"
#include "traces/calls/system_call.h"
#include "traces/record/bpf_event_view.h"

namespace filereel {

// Reads the event of a system call that has ended or, if `ended` is false, started. Resets `call`
// except for its thread and times.
CallReading read_bpf_call(const BpfEventView& event, bool ended, SystemCall& call);

}  // namespace filereel
