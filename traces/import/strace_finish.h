// What makes a SystemCall of the arguments that the letters of StraceCall cannot say. Each returns
// false if the call is not about files after all.
#pragma once

#include <cstddef>

#include "traces/calls/system_call.h"

namespace filereel {

class StraceReader;

namespace strace_finish {

bool open_how(StraceReader& reader, SystemCall& call);
bool range_of_descriptors(StraceReader& reader, SystemCall& call);
bool perhaps_positional(StraceReader& reader, SystemCall& call);
bool ioctl(StraceReader& reader, SystemCall& call);
bool long_seek(StraceReader& reader, SystemCall& call);
bool unshared(StraceReader& reader, SystemCall& call);
bool not_followed(StraceReader& reader, SystemCall& call);
bool descriptor_of_another(StraceReader& reader, SystemCall& call);
bool fcntl(StraceReader& reader, SystemCall& call);
bool submitted(StraceReader& reader, SystemCall& call);
bool completed(StraceReader& reader, SystemCall& call);
bool stat_at(StraceReader& reader, SystemCall& call);
bool mode_at(StraceReader& reader, SystemCall& call);
bool owner_at(StraceReader& reader, SystemCall& call);
bool read_link(StraceReader& reader, SystemCall& call);
bool read_link_at(StraceReader& reader, SystemCall& call);
bool list(StraceReader& reader, SystemCall& call);
bool unlink_at(StraceReader& reader, SystemCall& call);
bool times_utime(StraceReader& reader, SystemCall& call);
bool times_utimes(StraceReader& reader, SystemCall& call);
bool times_futimesat(StraceReader& reader, SystemCall& call);
bool times_utimensat(StraceReader& reader, SystemCall& call);
bool map(StraceReader& reader, SystemCall& call);
bool clone(StraceReader& reader, SystemCall& call);
bool clone3(StraceReader& reader, SystemCall& call);
bool waited(StraceReader& reader, SystemCall& call);
bool waited_id(StraceReader& reader, SystemCall& call);
bool changed_signals(StraceReader& reader, SystemCall& call);
bool hidden_ring(StraceReader& reader, SystemCall& call);
bool memory_file(StraceReader& reader, SystemCall& call);
bool performance(StraceReader& reader, SystemCall& call);
bool by_handle(StraceReader& reader, SystemCall& call);

// The two descriptors in argument `number`.
bool pair_at(StraceReader& reader, SystemCall& call, std::size_t number);
template <std::size_t number>
bool pair(StraceReader& reader, SystemCall& call) {
  return pair_at(reader, call, number);
}

}  // namespace strace_finish
}  // namespace filereel
