// System calls on x86-64; see direct_call.h.
#pragma once

#include <cstdint>

namespace filereel {

// The kernel's result: the return value, or -errno.
[[gnu::always_inline]] inline std::int64_t direct_call_of_longs(long number, long a, long b, long c,
                                                                long d, long e) noexcept {
  long result;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace filereel
