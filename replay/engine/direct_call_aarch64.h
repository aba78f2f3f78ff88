// System calls on arm64; see direct_call.h.
#pragma once

#include <cstdint>

namespace filereel {

// The kernel's result: the return value, or -errno.
[[gnu::always_inline]] inline std::int64_t direct_call_of_longs(long number, long a, long b, long c,
                                                                long d, long e) noexcept {
  register long called asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  asm volatile("svc 0"
               : "+r"(first)
               : "r"(called), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
               : "memory");
  return first;
}

}  // namespace filereel
