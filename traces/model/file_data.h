// What a trace reveals about the size and bytes of one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filesets/entries.h"

namespace filereel {

// --- Tracks which bytes of a file the trace has written.

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

// Origin of a file.
enum class Origin : std::uint8_t {
  made,     // by the trace
  perhaps,  // opened with O_CREAT while its existence was unknown: created, unless it turns out to
            // contain bytes
  before,   // existed before the trace
};

// Sizes and offsets are in bytes. The known initial size is what the trace has required of it so
// far: a replay's file has exactly that size, so that guesses stay consistent.
class FileData {
 public:
  explicit FileData(Origin origin) : origin_(origin), exact_(origin == Origin::made) {}

  Origin origin() const { return origin_; }
  std::uint64_t size() const { return size_; }
  bool exact() const { return exact_; }
  // The size was inferred from a mapping, or ranges of unknown place were taken out.
  bool guessed() const { return guessed_ || taken_out_ != 0 || put_in_ != 0; }
  std::uint64_t initial_size() const { return initial_size_; }

  // The file turns out to have been created by the trace, or to have existed before.
  void now_made();
  void now_before();
  // It existed before, with exactly this size.
  void begin_with(std::uint64_t size);

  // A read of `asked` bytes returned `got` bytes.
  void was_read(std::uint64_t offset, std::uint64_t asked, std::uint64_t got);
  // Bytes were copied to another file. Weaker than a read: a short copy does not imply the end of
  // the file.
  void was_copied(std::uint64_t offset, std::uint64_t length) { was_read(offset, length, length); }
  // A mapping exposes the whole range; its last page may extend beyond the end.
  void was_mapped(std::uint64_t offset, std::uint64_t length);
  void has_size(std::uint64_t size);

  void write(std::uint64_t offset, std::uint64_t length, bool own);
  // Changes existing bytes; the size stays.
  void store(std::uint64_t offset, std::uint64_t length);
  void truncate(std::uint64_t size);
  void allocate(std::uint32_t flags, std::uint64_t offset, std::uint64_t length);

  // Facts from the trace's source: the initial bytes of the range are a hole, which no operation
  // shows. Ignored where the trace has written.
  void learn_hole(std::uint64_t offset, std::uint64_t length);
  // The trace uses the initial bytes of the range: reads, writes or frees them.
  void use(std::uint64_t offset, std::uint64_t length);
  void use_all() { use(0, kEndless); }
  // Parts of the initial file that a replay need not write: known holes, the whole file if it was
  // only looked at, and large parts that no operation came near.
  std::vector<Hole> initial_holes() const;

  // Whether part of the range is not known to hold the bytes generated for the file.
  bool hole(std::uint64_t offset, std::uint64_t length) const;

  const DataRanges& ranges() const { return ranges_; }

 private:
  static constexpr std::uint64_t kEndless = INT64_MAX;
  static std::uint64_t end_of(std::uint64_t offset, std::uint64_t length);
  void needs_initial(std::uint64_t size);
  void is_exact();
  // Initial bytes can exist below this offset.
  std::uint64_t known_initial() const { return initial_size_ < reach_ ? initial_size_ : reach_; }

  Origin origin_;
  bool exact_;            // the current size
  bool guessed_ = false;  // the initial size was inferred from a mapping
  std::uint64_t size_ = 0;
  std::uint64_t initial_size_ = 0;
  std::uint64_t reach_ = kEndless;  // initial bytes exist only below this offset
  // Bytes removed by collapsing and added by inserting while the size was unknown.
  std::uint64_t taken_out_ = 0, put_in_ = 0;
  bool cut_ = false;  // the trace truncated it
  DataRanges ranges_;
  DataRanges used_;   // initial bytes, in whole kUsedUnit
  DataRanges holes_;  // initial bytes known to be holes
};

}  // namespace filereel
