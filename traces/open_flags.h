// The flags of open(2) in a trace: those of Linux on x86-64, whichever processor it is recorded or
// replayed on. Four of them have other values on arm64. Whatever reads a trace uses the
// constants here for these, and <fcntl.h> for the others. Flags from the kernel are converted at
// the edge of a recorder, flags for the kernel at the edge of the engine; kProcessors is the table
// for both. What else a trace stores (AT_*, MAP_*, S_IF*, errno …) is the same on both processors,
// which tests/traces/open_flags_test.cc checks.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

#include <fcntl.h>

namespace filereel {

namespace open_flags {

inline constexpr int kDirect = 040000;
inline constexpr int kLargeFile = 0100000;  // of no effect in 64-bit programs
inline constexpr int kDirectory = 0200000;
inline constexpr int kNoFollow = 0400000;
inline constexpr int kTemporary = 020000000 | kDirectory;  // O_TMPFILE

struct Processor {
  std::string_view name;
  std::array<int, 4> values;  // O_DIRECT, O_LARGEFILE, O_DIRECTORY, O_NOFOLLOW
};

inline constexpr std::array<Processor, 2> kProcessors = {{
    // include/uapi/asm-generic/fcntl.h
    {"x86_64", {kDirect, kLargeFile, kDirectory, kNoFollow}},
    // arch/arm64/include/uapi/asm/fcntl.h
    {"aarch64", {0200000, 0400000, 040000, 0100000}},
}};
inline constexpr const Processor& kOfTraces = kProcessors[0];

// The first processor with the values of this build's headers, which define O_LARGEFILE as 0.
consteval const Processor& host() {
  for (const Processor& processor : kProcessors) {
    if (processor.values[0] == O_DIRECT && processor.values[2] == O_DIRECTORY &&
        processor.values[3] == O_NOFOLLOW) {
      return processor;
    }
  }
  throw "add this processor's values to kProcessors";
}

template <std::integral Flags>
constexpr Flags convert(Flags flags, const Processor& from, const Processor& to) noexcept {
  Flags result = flags;
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    result = static_cast<Flags>(result & ~static_cast<Flags>(from.values[i]));
  }
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    if ((flags & static_cast<Flags>(from.values[i])) != 0) {
      result = static_cast<Flags>(result | static_cast<Flags>(to.values[i]));
    }
  }
  return result;
}

// Between the flags of this machine's kernel and those of a trace. On x86-64 they do nothing.
template <std::integral Flags>
constexpr Flags from_kernel(Flags flags) noexcept {
  return convert(flags, host(), kOfTraces);
}
template <std::integral Flags>
constexpr Flags to_kernel(Flags flags) noexcept {
  return convert(flags, kOfTraces, host());
}

}  // namespace open_flags

}  // namespace filereel
