// How this folder works: a reel is a sequence of blocks (reel_format.h), and each type of block has
// a file: tree_blocks.h paths, texts and trees, operation_block.h operations, info_blocks.h
// everything else. Operations are stored as columns of numbers (column.h), after a model has
// predicted each number from earlier ones (operation_model.h, the same code for both directions).
// operation_check.h has what every operation of a reel must obey, in writing and in reading. Start
// with docs/reel-format.md, then ReelWriter::add in reel_writer.cc and ReelReader::State::load in
// reel_reader.cc.
//
// Reads `.reel` files: the format of docs/reel-format.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "traces/recorded_trace.h"

namespace filereel {

inline constexpr int kReelFormatVersion = 5;

// Limits of the format; larger files are neither written nor read.
inline constexpr std::uint32_t kMaxReelPaths = 8'000'000;
inline constexpr std::uint64_t kMaxReelText = 256ull << 20;  // total bytes of names and texts
inline constexpr std::uint32_t kMaxReelThreads = 1'000'000;
inline constexpr std::uint32_t kMaxReelSlots = 1'000'000;  // open files or mappings at once
inline constexpr std::uint32_t kMaxReelFiles = 1u << 26;

// An open reel. The tables, trees and facts are read at once; the operations stream in bounded
// memory, from start to end, any number of times.
class ReelReader final : public RecordedTrace {
 public:
  // Reads everything except the operations. A truncated file is read up to its last complete block:
  // info().complete is false, and trees and counts are inferred from the operations. Throws
  // Error(failed) if the file cannot be read, Error(unusable_input) with the byte offset if it is
  // not a reel, corrupt, of a newer version or beyond the limits.
  explicit ReelReader(const std::string& path);
  // The same for bytes in memory, which outlive the reader; `name` is used in messages.
  ReelReader(std::span<const std::byte> bytes, std::string name);
  ~ReelReader() override;

  std::uint32_t version() const;  // of the format, from 1
  const TraceTables& tables() const override;
  const TraceInfo& info() const override;
  const TraceTrees& trees() const override;

  // Every operation is checked: its numbers are within the tables, offsets and lengths within 2^63
  // - 1. Throws Error(unusable_input) if the file is corrupt.
  std::size_t next(std::span<RecordedOperation> out) override;
  void rewind() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
