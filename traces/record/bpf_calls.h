// The system calls that are recorded in the kernel, by their numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "traces/calls/call_arguments.h"
#include "traces/calls/system_call.h"
#include "traces/record/bpf_event.h"
#include "traces/record/bpf_event_view.h"

namespace filereel {

struct BpfCall {
  long number;              // SYS_*
  std::string_view name;    // what its arguments are says the table of calls
  std::uint16_t flags = 0;  // SHAPE_*, beside those that follow from that
};

std::span<const BpfCall> bpf_calls();

// What an event is called that was lost: of a system call its name.
std::string_view event_name(std::uint32_t kind, std::uint32_t number);

// What the program in the kernel is to attach to events, by the number of the system call.
void set_shapes(std::span<bpf_shape, SHAPES> shapes);

// The same by the numbers of 32-bit calls, of which the program only counts those that are about
// files: those with a path, and those with the descriptor of a file.
void set_compat_shapes(std::span<bpf_shape, SHAPES> shapes);

// Reads the event of a system call, which has ended or, if `ended` is false, begun. `call` is made
// anew, but for its thread and times.
CallReading read_bpf_call(const BpfEventView& event, bool ended, SystemCall& call);

}  // namespace filereel
