// The virtual counter of arm64's generic timer. Unlike the vDSO, it is read without waiting for
// preceding instructions.
#pragma once

#include <cstdint>

namespace filereel {

inline constexpr const char* kTickSource = "arch_sys_counter";  // kernel name

inline std::uint64_t read_ticks() noexcept {
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

}  // namespace filereel
