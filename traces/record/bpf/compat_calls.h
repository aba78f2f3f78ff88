// The system calls of 32-bit programs that concern files, by their numbers: those of i386 on x86-64
// (compat_calls_x86_64.cc), of arm (EABI) on arm64 (compat_calls_aarch64.cc). BPF only counts them:
// their numbers, arguments and structures differ from those of 64-bit calls.
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
