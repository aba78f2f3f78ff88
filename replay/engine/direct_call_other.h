// System calls on other processors, by the C library; see direct_call.h.
#pragma once

#include <cstdint>

#include <errno.h>
#include <unistd.h>

namespace filereel {

// The kernel's result: the return value, or -errno.
inline std::int64_t direct_call_of_longs(long number, long a, long b, long c, long d,
                                         long e) noexcept {
  const long result = syscall(number, a, b, c, d, e);
  return result < 0 ? -errno : result;
}

}  // namespace filereel
