// Special cases of single system calls that argument roles cannot express: see CallRow::finish.
// Each function returns false if the call is not about files.
#pragma once

#include "traces/calls/system_call.h"

namespace filereel::call_finish {

// An empty path can mean the descriptor itself (AT_EMPTY_PATH): fstatat then is fstat.
bool by_descriptor(SystemCall& call);

bool at_own_position(SystemCall& call);      // preadv2, pwritev2
bool descriptor_command(SystemCall& call);   // fcntl
bool clone_command(SystemCall& call);        // ioctl
bool file_or_directory(SystemCall& call);    // unlinkat
bool file_or_memory(SystemCall& call);       // mmap
bool really_executed(SystemCall& call);      // execveat
bool ended_child(SystemCall& call);          // wait4, waitid
bool two_ends(SystemCall& call);             // pipe, socketpair
bool new_or_changed(SystemCall& call);       // signalfd
bool memory_file(SystemCall& call);          // memfd_create
bool performance_counter(SystemCall& call);  // perf_event_open
bool file_by_handle(SystemCall& call);       // open_by_handle_at
bool named_socket(SystemCall& call);         // bind
bool place_in_tree(SystemCall& call);        // open_tree

}  // namespace filereel::call_finish
