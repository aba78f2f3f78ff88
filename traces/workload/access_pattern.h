// Positions of the accesses of one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "filesets/system/random.h"
#include "traces/workload/recipe.h"

namespace filereel {

// Minimum alignment of direct I/O on block devices.
inline constexpr std::uint64_t kSector = 512;

// Files laid end to end. For direct I/O, incomplete pages at their ends are excluded (sectors for
// files smaller than a page).
class FileSpace {
 public:
  FileSpace(const std::vector<std::uint64_t>& sizes, bool direct);

  // The usable bytes of a file of this size.
  static std::uint64_t used(std::uint64_t size, bool direct);

  std::uint64_t bytes() const { return starts_.back(); }
  std::size_t files() const { return starts_.size() - 1; }
  std::uint64_t start(std::size_t file) const { return starts_[file]; }
  std::uint64_t size(std::size_t file) const { return starts_[file + 1] - starts_[file]; }
  // The file at a position below bytes().
  std::size_t file_at(std::uint64_t position) const {
    return same_size_ > 0 ? position / same_size_ : search(position);
  }

 private:
  std::size_t search(std::uint64_t position) const;

  std::vector<std::uint64_t> starts_;  // and the end of the last one
  std::uint64_t same_size_ = 0;        // of all files, if equal
};

struct Access {
  bool is_write;
  std::uint32_t file;
  std::uint64_t offset, length;  // in the file
};

// Numbers of spots from 0; the n-th is drawn with a probability proportional to 1 / (n +
// 1)^exponent: rejection inversion (Hörmann & Derflinger, Rejection-inversion to generate variates
// from monotone discrete distributions, 1996), which needs no table for any number of spots.
class ZipfNumbers {
 public:
  ZipfNumbers() = default;
  // `count` > 0, `exponent` > 0.
  ZipfNumbers(std::uint64_t count, double exponent);
  std::uint64_t draw(Random& random) const;

 private:
  double integral(double x) const;
  double inverse(double x) const;

  std::uint64_t count_ = 1;
  double exponent_ = 1, first_ = 0, last_ = 0, sure_ = 0;
};

// A permutation of the numbers below `count` that separates neighbours.
class Shuffle {
 public:
  Shuffle() = default;
  Shuffle(std::uint64_t count, std::uint64_t seed);
  std::uint64_t of(std::uint64_t number) const;

 private:
  std::uint64_t count_ = 1, mask_ = 0, factor_ = 1, offset_ = 0;
  unsigned shift_ = 1;
};

// Throws Error(unusable_input) if an access does not fit into the zone, or, with disjoint parts for
// `threads`, into each part.
void check_zone(const AccessMix& mix, std::uint64_t space_bytes, std::uint32_t threads);

// Bytes of one pass, total of all threads.
std::uint64_t bytes_of_pass(const AccessMix& mix, std::uint64_t space_bytes, std::uint32_t threads);

// The endless accesses of one thread; the same for the same seed.
class AccessPattern {
 public:
  // For thread `thread` of `threads`. `mix` and `space` satisfy check_zone and outlive the pattern.
  // Patterns with the same `spots_seed` have the same hot spots.
  AccessPattern(const AccessMix& mix, const FileSpace& space, std::uint32_t thread,
                std::uint32_t threads, std::uint64_t seed, std::uint64_t spots_seed);

  Access next() noexcept;
  // Completed passes of the thread: multiples of the bytes of its part.
  std::uint64_t passes() const { return passes_; }

 private:
  // A size of the mix.
  struct Size {
    std::uint64_t bytes, align, spots;  // spots: aligned positions in the zone
    std::uint32_t share;                // cumulative share
  };

  const Size& draw_size() noexcept;
  std::uint64_t draw_position(const Size& size) noexcept;
  bool draw_write() noexcept;

  const AccessMix& mix_;
  const FileSpace& space_;
  Random random_;
  std::uint64_t begin_, end_;  // of the zone
  std::vector<Size> sizes_;
  ZipfNumbers zipf_;
  Shuffle shuffle_;
  std::uint64_t spot_bytes_ = 0;  // of hot spots
  std::uint64_t next_ = 0;        // end of the last access
  std::uint64_t reads_ = 0, writes_ = 0;
  std::uint64_t moved_ = 0, passes_ = 0;  // bytes since the end of the last pass
};

}  // namespace filereel
