// The one table of the system calls that strace names and filereel knows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "traces/calls/system_call.h"

namespace filereel {

class StraceReader;

struct StraceCall {
  std::string_view name;  // as strace writes it
  Call call;
  // What the arguments are, one letter each:
  //   f F  descriptor: fd, fd2             d D  descriptor that paths begin at: dir, dir2
  //   p P  path, path2                     t    text
  //   g    flags                           m    mode
  //   o O  offset, offset2                 i I  the same, behind a pointer: "[5]", NULL for none
  //   l    length                          v    buffers: length is their sum
  //   a    address                         s    struct stat
  //   -    nothing of interest
  std::string_view arguments;
  std::uint64_t flags = 0;  // set beside those of the arguments
  // What the letters cannot say; false if the call is not about files after all.
  bool (*finish)(StraceReader& reader, SystemCall& call) = nullptr;
};

std::span<const StraceCall> strace_calls();

// nullptr: a call that is not about files.
const StraceCall* find_strace_call(std::string_view name);

}  // namespace filereel
