// The system calls recorded in the kernel, by number.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "traces/calls/call_table.h"
#include "traces/record/bpf/bpf_event.h"

namespace filereel {

struct BpfCall {
  long number;              // SYS_* of this processor
  std::string_view name;    // name of its row in the table of calls
  std::uint16_t flags = 0;  // SHAPE_*, in addition to those that follow from the row
};

// Those that this processor has. Newer processors lack open, rename and other calls that have a
// successor (openat, renameat2).
std::span<const BpfCall> bpf_calls();

// The row of a recorded call in the table of calls; nullptr: the call is not recorded.
const CallRow* bpf_call_row(std::uint32_t number);

// Name of a lost event; for a system call, the call's name.
std::string_view event_name(std::uint32_t kind, std::uint32_t number);

// The data that the kernel program attaches to events, by system call number. `content`: with the
// first bytes of written data (SystemCall::data).
void set_shapes(std::span<bpf_shape, SHAPES> shapes, bool content);

// The same by numbers of 32-bit calls (compat_calls.h). The program only counts those that concern
// files: calls with a path or with the descriptor of a file.
void set_compat_shapes(std::span<bpf_shape, SHAPES> shapes);

}  // namespace filereel
