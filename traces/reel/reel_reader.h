// Reading `.reel` files: the format of docs/reel-format.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "traces/recorded_trace.h"

namespace filereel {

inline constexpr int kReelFormatVersion = 2;

// Limits of the format; files beyond them are neither written nor read.
inline constexpr std::uint32_t kMaxReelPaths = 8'000'000;
inline constexpr std::uint64_t kMaxReelText = 256ull << 20;  // bytes of names and texts together
inline constexpr std::uint32_t kMaxReelThreads = 1'000'000;
inline constexpr std::uint32_t kMaxReelSlots = 1'000'000;  // open files or mappings at once
inline constexpr std::uint32_t kMaxReelFiles = 1u << 26;

// A reel, opened. The tables, the trees and the facts are read at once; the operations stream in
// bounded memory, from the beginning to the end, as often as wanted.
class ReelReader final : public RecordedTrace {
 public:
  // Reads what precedes the operations. A torn file (one that was not finished) is read up to its
  // last whole block: info().complete is false, and the trees and counts are found again by
  // following the operations. Throws Error(failed) if it cannot be read, Error(unusable_input) with
  // the byte offset if it is no reel, damaged, of a newer version or beyond the limits.
  explicit ReelReader(const std::string& path);
  // The same of bytes in memory, which outlive the reader; `name` stands for them in messages.
  ReelReader(std::span<const std::byte> bytes, std::string name);
  ~ReelReader() override;

  std::uint32_t version() const;  // of the format, from 1
  const TraceTables& tables() const override;
  const TraceInfo& info() const override;
  const TraceTrees& trees() const override;

  // Every operation is checked: its numbers are within the tables, offsets and lengths within
  // 2^63 - 1. Throws Error(unusable_input) where the file is damaged.
  std::size_t next(std::span<RecordedOperation> out) override;
  void rewind() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
