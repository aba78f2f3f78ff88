// Columns of numbers, each in its cheapest encoding: docs/reel-format.md, Columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "traces/reel/bytes.h"

namespace filereel {

enum class ColumnNature : std::uint8_t {
  positive,    // numbers as they are
  difference,  // two's complement, small in both directions
  noise,       // differences without repetition: measured times
};

// Appends `values`; nothing if empty.
void put_column(std::string& out, std::span<const std::uint64_t> values, ColumnNature nature,
                Packer& packer);

// Reads a column of out.size() values. If all are equal, writes only out[0] and returns true.
bool take_column(ByteReader& in, std::span<std::uint64_t> out, Unpacker& unpacker);

// The same, but writes every element of `out`.
void take_whole_column(ByteReader& in, std::span<std::uint64_t> out, Unpacker& unpacker);

}  // namespace filereel
