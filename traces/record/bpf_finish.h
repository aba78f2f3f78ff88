// What letters and parts cannot say of single system calls: see BpfCall::finish.
#pragma once

#include "traces/calls/system_call.h"
#include "traces/record/bpf_event_view.h"

namespace filereel::bpf_finish {

bool open_how(const BpfEventView& event, SystemCall& call);
bool by_handle(const BpfEventView& event, SystemCall& call);
bool handed_over(const BpfEventView& event, SystemCall& call);
bool range_of_descriptors(const BpfEventView& event, SystemCall& call);
bool perhaps_positional(const BpfEventView& event, SystemCall& call);
bool one_offset(const BpfEventView& event, SystemCall& call);
bool two_offsets(const BpfEventView& event, SystemCall& call);
bool ioctl(const BpfEventView& event, SystemCall& call);
bool fcntl(const BpfEventView& event, SystemCall& call);
bool stat(const BpfEventView& event, SystemCall& call);
bool stat_at(const BpfEventView& event, SystemCall& call);
bool statx(const BpfEventView& event, SystemCall& call);
bool read_link(const BpfEventView& event, SystemCall& call);
bool list(const BpfEventView& event, SystemCall& call);
bool unlink_at(const BpfEventView& event, SystemCall& call);
bool mode_at(const BpfEventView& event, SystemCall& call);
bool owner_at(const BpfEventView& event, SystemCall& call);
bool times_utime(const BpfEventView& event, SystemCall& call);
bool times_utimes(const BpfEventView& event, SystemCall& call);
bool times_utimensat(const BpfEventView& event, SystemCall& call);
bool map(const BpfEventView& event, SystemCall& call);
bool unshared(const BpfEventView& event, SystemCall& call);
bool waited(const BpfEventView& event, SystemCall& call);
bool waited_id(const BpfEventView& event, SystemCall& call);
bool changed_signals(const BpfEventView& event, SystemCall& call);
bool memory_file(const BpfEventView& event, SystemCall& call);
bool performance(const BpfEventView& event, SystemCall& call);
bool pair(const BpfEventView& event, SystemCall& call);

}  // namespace filereel::bpf_finish
