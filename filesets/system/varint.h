// Numbers of 64 bits as bytes, short for small ones (LEB128): seven bits per byte, the lowest
// first; the high bit is clear in the last byte.
#pragma once

#include <cstdint>
#include <optional>

namespace filereel {

// The most bytes of a number.
inline constexpr unsigned kVarintBytes = 10;
// The most bytes in HdrHistogram's variant, whose ninth byte has eight bits (LEB128-64b9B).
inline constexpr unsigned kHdrVarintBytes = 9;

// Maps signed numbers to small ones if they are near 0: 0, -1, 1, -2 to 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t code) {
  return (code >> 1) ^ (0 - (code & 1));
}

// Calls `put` with each byte.
template <unsigned most = kVarintBytes, class Put>
constexpr void write_varint(std::uint64_t value, Put put) {
  constexpr bool kIsLimited = most < kVarintBytes;
  for (unsigned size = 1; value >= 0x80 && (!kIsLimited || size < most); ++size, value >>= 7) {
    put(static_cast<std::uint8_t>(value | 0x80));
  }
  put(static_cast<std::uint8_t>(value));
}

// Takes bytes from `next`, which must not return at the end of the data. nullopt for more than 64
// bits.
template <unsigned most = kVarintBytes, class Next>
constexpr std::optional<std::uint64_t> read_varint(Next next) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < most; ++i) {
    const std::uint8_t byte = next();
    const bool is_whole = most < kVarintBytes && i + 1 == most;
    const std::uint64_t bits = is_whole ? byte : byte & 0x7f;
    if ((bits << 7 * i) >> 7 * i != bits) break;
    value |= bits << 7 * i;
    if (is_whole || byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace filereel
