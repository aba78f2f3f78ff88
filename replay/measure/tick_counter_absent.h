// Processors without a known counter: the kernel's clock is used.
#pragma once

#include <cstdint>

namespace filereel {

inline constexpr const char* kTickSource = "";

inline std::uint64_t read_ticks() noexcept {
  return 0;
}

}  // namespace filereel
