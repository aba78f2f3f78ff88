// System calls without the C library's wrappers. The wrappers access errno, are cancellation
// points, and add a return. With mitigations in the kernel, the first return after a system call is
// mispredicted. This costs 50 ns or more, while a cached read takes 400 ns.
#pragma once

#include <cstdint>
#include <type_traits>

#include <sys/syscall.h>

#if defined(__x86_64__)
#include "replay/engine/direct_call_x86_64.h"
#elif defined(__aarch64__)
#include "replay/engine/direct_call_aarch64.h"
#else
#include "replay/engine/direct_call_other.h"
#endif

namespace filereel {

static_assert(sizeof(long) == 8, "a file offset must fit in one system call argument");

template <class Argument>
long call_argument(Argument argument) noexcept {
  if constexpr (std::is_pointer_v<Argument>) {
    return reinterpret_cast<long>(argument);
  } else {
    return static_cast<long>(argument);
  }
}

// Up to five arguments.
template <class... Arguments>
[[gnu::always_inline]] inline std::int64_t direct_call(long number,
                                                       Arguments... arguments) noexcept {
  static_assert(sizeof...(arguments) <= 5);
  const long all[5] = {call_argument(arguments)...};
  return direct_call_of_longs(number, all[0], all[1], all[2], all[3], all[4]);
}

}  // namespace filereel
