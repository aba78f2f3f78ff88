// How this part works: the kernel program (recorder.bpf.c with the headers *_kernel.h) runs at the
// start and end of every system call, at page faults, switches and forks, and puts events about
// recorded threads into a ring (bpf_event.h, the protocol of both sides). bpf_program.cc loads it;
// its thread moves events from the ring to an EventQueue. The recording thread takes them from
// there (bpf_event_view.h), turns each into a SystemCall (bpf_translation.h, bpf_requests.h) and
// passes it to the CallResolver. Start with bpf_event.h, then call_begins and call_ends in
// bpf_system_calls_kernel.h, then BpfRecorder::record in bpf_recorder.cc.
//
// Recording with a kernel program: nothing is stopped and almost nothing is slowed down.
#pragma once

#include "traces/record/recorder.h"

namespace filereel {

const RecorderBackend& bpf_backend();

}  // namespace filereel
