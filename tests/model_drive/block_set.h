// A set of blocks of the drive.
#pragma once

#include <cstdint>
#include <vector>

namespace filereel::model_drive {

// A bit per block, in memory from the begin on: 32 MiB for 1 TiB. A range costs a step per 64
// blocks. Ranges do not include their end; what lies beyond the last block is ignored.
class BlockSet {
 public:
  explicit BlockSet(std::uint64_t blocks) : blocks_(blocks), words_((blocks + 63) / 64) {}

  void add(std::uint64_t first, std::uint64_t end);
  void remove(std::uint64_t first, std::uint64_t end);

  std::uint64_t blocks() const { return blocks_; }  // that could be in it
  std::uint64_t count() const { return count_; }
  std::uint64_t count(std::uint64_t first, std::uint64_t end) const;

 private:
  std::uint64_t blocks_;
  std::vector<std::uint64_t> words_;
  std::uint64_t count_ = 0;
};

}  // namespace filereel::model_drive
