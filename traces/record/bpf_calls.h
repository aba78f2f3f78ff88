// The system calls that are recorded in the kernel, by their numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "traces/calls/system_call.h"
#include "traces/record/bpf_event.h"
#include "traces/record/bpf_event_view.h"

namespace filereel {

struct BpfCall {
  long number;  // SYS_*
  // As strace calls it; what its arguments are says the one table of import/strace_calls.h, unless
  // the kernel's differ from what strace shows.
  std::string_view name;
  // What the arguments and parts do not say by themselves; false if the call is not about files.
  bool (*finish)(const BpfEventView& event, SystemCall& call) = nullptr;
  // Memory behind the pointers in these arguments, counted from 1, is copied when the call ends.
  struct Copy {
    std::uint8_t argument = 0, bytes = 0;
  };
  Copy copy{};
  std::uint8_t buffer = 0;  // so is the buffer of the result in this one
  std::string_view letters{};
  bool followed = true;  // else it changes what names and files are in ways that are not told
};

std::span<const BpfCall> bpf_calls();

// What an event is called that was lost: of a system call its name.
std::string_view event_name(std::uint32_t kind, std::uint32_t number);

// What the program in the kernel is to attach to events, by the number of the system call.
void set_shapes(std::span<bpf_shape, SHAPES> shapes);

// The same by the numbers of 32-bit calls, of which the program only counts those that are about
// files: those with a path, and those with the descriptor of a file.
void set_compat_shapes(std::span<bpf_shape, SHAPES> shapes);

enum class BpfReading : std::uint8_t {
  nothing,  // the call is not about files, or changed nothing
  call,
  not_followed,  // it has changed what is not followed: that is lost
};

// Reads the event of a system call, which has ended or, if `ended` is false, begun. `call` is made
// anew, but for its thread and times.
BpfReading read_bpf_call(const BpfEventView& event, bool ended, SystemCall& call);

}  // namespace filereel
