// Calls that mean what others do, by their arguments: what all tracers must know.
#pragma once

#include <cstdint>

#include "traces/calls/system_call.h"

namespace filereel {

// Whether an empty path means the descriptor itself (AT_EMPTY_PATH): fstatat is fstat then.
bool means_descriptor(const SystemCall& call);

// Makes `call` the form that takes `dir` as its descriptor.
void take_descriptor(Call by_descriptor, SystemCall& call);

enum class Fcntl : std::uint8_t {
  other,  // not about files
  whole,  // the call is complete
  lock,   // a record lock, whose range and kind are still to be read
};
// Makes `call` what fcntl(fd, command, argument) does.
Fcntl take_fcntl(int command, std::uint64_t argument, SystemCall& call);

}  // namespace filereel
