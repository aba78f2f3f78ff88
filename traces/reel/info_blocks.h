// Blocks with everything in a trace besides its operations: threads, facts and counts, and the
// index of all blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/recorded_trace.h"
#include "traces/reel/bytes.h"
#include "traces/reel/reel_format.h"

namespace filereel {

std::string put_threads(std::span<const TraceThread> threads, Packer& packer);
// Appends to info.threads. Throws Damage, also in the functions below.
void take_threads(ByteReader in, std::uint32_t count, Unpacker& unpacker, TraceInfo& info);

// All of `info` except the threads, all of `trees` except the entries. Throws Error(unusable_input)
// if a fact is too long.
std::string put_info(const TraceInfo& info, const TraceTrees& trees, Packer& packer);
void take_info(ByteReader in, std::uint32_t version, Unpacker& unpacker, TraceInfo& info,
               TraceTrees& trees);

struct IndexEntry {
  BlockType type = BlockType::info;
  std::uint32_t size = 0;  // without the header
  std::uint32_t count = 0;
  // For operations: range of the start times, in units, and the thread numbers, ascending.
  std::uint64_t earliest = 0, latest = 0;
  std::vector<std::uint32_t> threads;
};
void put_index_entry(std::string& out, const IndexEntry& entry);
IndexEntry take_index_entry(ByteReader& in);

}  // namespace filereel
