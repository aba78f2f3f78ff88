// Tracks which bytes of a file the trace has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace filereel {

// Ranges of a file that the trace wrote, merged with their neighbours. "Own" bytes are those that a
// write to this file generates from file and offset. "Foreign" bytes are all others: zeros, copies
// from other files, stores through mappings.
class DataRanges {
 public:
  // A file with more pieces is not tracked: it is scattered.
  static constexpr std::size_t kMaxPieces = 4096;

  struct Piece {
    std::uint64_t begin, end;
    bool own;
  };

  void add(std::uint64_t begin, std::uint64_t end, bool own);

  // Removes everything from `size` on.
  void truncate(std::uint64_t size);

  bool empty() const { return pieces_.empty() && !scattered_; }
  bool scattered() const { return scattered_; }
  std::span<const Piece> pieces() const { return pieces_; }  // ascending, disjoint

  // The end of the last part of [begin, end) that no range covers; 0 if it is fully covered.
  std::uint64_t last_gap_end(std::uint64_t begin, std::uint64_t end) const;

  // Whether a foreign range overlaps [begin, end).
  bool any_foreign(std::uint64_t begin, std::uint64_t end) const;

 private:
  using Pieces = std::vector<Piece>;
  // The first piece that ends after `offset`.
  Pieces::const_iterator first_behind(std::uint64_t offset) const;

  Pieces pieces_;  // ascending, disjoint
  bool scattered_ = false;
};

}  // namespace filereel
