// Blocks of operations: a column for each member of each kind.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/reel/bytes.h"
#include "traces/reel/operation_model.h"

namespace filereel {

// In the recorded order; times are in the reel's units.
class OperationBlockWriter {
 public:
  explicit OperationBlockWriter(Packer& packer) : packer_(packer) {}

  struct Block {
    std::string bytes;
    std::uint64_t earliest = 0, latest = 0;  // starts, in units
    std::vector<std::uint32_t> threads;      // ascending
  };
  // At least one operation, of kinds allowed in reels.
  Block write(std::span<RecordedOperation> operations);

  // Bytes of the columns of each sort so far, followed by those of the kinds, of the threads and of
  // everything else.
  static constexpr std::size_t kKinds = kColumns, kThreads = kColumns + 1, kRest = kColumns + 2;
  const std::array<std::uint64_t, kColumns + 3>& column_bytes() const { return column_bytes_; }

 private:
  void write_threads(std::span<const RecordedOperation> operations, Block& block);
  void write_columns(std::string& out);

  Packer& packer_;
  OperationModel model_;
  BlockStart start_;
  std::vector<std::uint32_t> local_;  // thread of each operation, as a number within the block
  std::array<std::vector<std::uint64_t>, kOperationKinds * kColumns> columns_;
  std::array<std::uint64_t, kColumns + 3> column_bytes_{};
};

class OperationBlockReader {
 public:
  OperationBlockReader();

  // Unpacks a block of `count` operations, starting at this position. The times in `limits` are in
  // units, too. Throws Damage.
  void open(std::span<const std::byte> bytes, std::uint32_t count, std::uint64_t position,
            std::uint32_t unit_ns, const OperationLimits& limits);

  std::uint32_t left() const { return count_ - at_; }
  void close() { at_ = count_ = 0; }

  // The next operations, at most left(), with times in nanoseconds. Throws Damage.
  void read(std::span<RecordedOperation> out);

 private:
  struct Cursor {
    const std::uint64_t* at;
    std::size_t step;  // 0 if all are equal
  };
  struct Run {
    std::uint32_t thread;  // number within the block
    std::uint32_t end;     // of the operations in the block
  };
  struct ReadingChannel;

  void take_kinds(ByteReader& in);
  void take_runs(ByteReader& in, const OperationLimits& limits);
  void take_columns(ByteReader& in);

  Unpacker unpacker_;
  OperationModel model_;
  OperationLimits limits_;
  std::uint32_t unit_ns_ = 1;
  std::uint32_t count_ = 0, at_ = 0;
  std::uint64_t position_ = 0;
  std::string kinds_;
  std::array<std::uint32_t, kOperationKinds> of_kind_{};
  std::vector<std::uint32_t> threads_;
  std::vector<Run> runs_;
  std::size_t run_ = 0;
  std::vector<std::uint64_t> values_;  // of all columns
  std::array<Cursor, kOperationKinds * kColumns> cursors_;
};

}  // namespace filereel
