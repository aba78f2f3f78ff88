// The system calls of 32-bit programs that concern files, by their i386 numbers. BPF only counts
// them: their numbers, arguments and structures differ from those of 64-bit calls.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace filereel {

struct CompatCall {
  std::uint32_t number;
  std::string_view name;  // strace's name
};

std::span<const CompatCall> compat_calls();

}  // namespace filereel
