// Columns of numbers, each coded in the cheapest way for its values: docs/reel-format.md, Columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "traces/reel/bytes.h"
#include "traces/reel/pack.h"

namespace filereel {

enum class ColumnNature : std::uint8_t {
  positive,    // numbers as they are
  difference,  // two's complement, small in both directions
  noise,       // differences that do not repeat themselves: measured times
};

// Appends `values`; nothing if there are none.
void put_column(std::string& out, std::span<const std::uint64_t> values, ColumnNature nature,
                Packer& packer);

// Reads a column of out.size() values. Where they are all the same, only out[0] is written and true
// is returned.
bool take_column(ByteReader& in, std::span<std::uint64_t> out, Unpacker& unpacker);

// The same, and every element of `out` is written.
void take_whole_column(ByteReader& in, std::span<std::uint64_t> out, Unpacker& unpacker);

}  // namespace filereel
