#include "filesets/system/varint.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

namespace filereel {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

template <unsigned most>
std::vector<std::uint8_t> written(std::uint64_t value) {
  std::vector<std::uint8_t> bytes;
  write_varint<most>(value, [&](std::uint8_t byte) { bytes.push_back(byte); });
  return bytes;
}

// The number at the start of `bytes`, which must be a whole one; `size` is set to its size.
template <unsigned most>
std::optional<std::uint64_t> read(const std::vector<std::uint8_t>& bytes, std::size_t& size) {
  size = 0;
  return read_varint<most>([&] { return bytes.at(size++); });
}

template <unsigned most>
void check_around_each_power() {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value : {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit}) {
      const std::vector<std::uint8_t> bytes = written<most>(value);
      std::size_t size = 0;
      CHECK(bytes.size() <= most);
      CHECK(read<most>(bytes, size) == value);
      CHECK(size == bytes.size());
    }
  }
  std::size_t size = 0;
  CHECK(read<most>(written<most>(kLargest), size) == kLargest);
  CHECK(size == most);
}

TEST_CASE("numbers of any size survive") {
  check_around_each_power<kVarintBytes>();
  check_around_each_power<kHdrVarintBytes>();
}

TEST_CASE("the bytes are those of LEB128, and of HdrHistogram's variant") {
  using Bytes = std::vector<std::uint8_t>;
  CHECK(written<kVarintBytes>(0) == Bytes{0});
  CHECK(written<kVarintBytes>(624'485) == Bytes{0xe5, 0x8e, 0x26});
  CHECK(written<kHdrVarintBytes>(624'485) == Bytes{0xe5, 0x8e, 0x26});
  CHECK(written<kVarintBytes>(kLargest) ==
        Bytes{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
  CHECK(written<kHdrVarintBytes>(kLargest) ==
        Bytes{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
}

TEST_CASE("numbers of more than 64 bits are refused after ten bytes at the latest") {
  std::size_t size = 0;
  std::vector<std::uint8_t> bytes(20, 0x80);
  CHECK_FALSE(read<kVarintBytes>(bytes, size));
  CHECK(size == kVarintBytes);
  bytes.assign(9, 0xff);
  bytes.push_back(0x02);
  CHECK_FALSE(read<kVarintBytes>(bytes, size));
}

TEST_CASE("small differences of either sign have small codes") {
  CHECK(zigzag(0) == 0);
  CHECK(zigzag(kLargest) == 1);
  CHECK(zigzag(1) == 2);
  for (const std::uint64_t one : {std::uint64_t{0}, kLargest, kLargest / 2, kLargest / 2 + 1}) {
    CHECK(unzigzag(zigzag(one)) == one);
  }
}

}  // namespace
}  // namespace filereel
