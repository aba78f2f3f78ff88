#include "traces/model/file_data.h"

#include <algorithm>
#include <array>

#include <linux/falloc.h>

namespace filereel {

DataRanges::Pieces::const_iterator DataRanges::first_behind(std::uint64_t offset) const {
  return std::ranges::upper_bound(pieces_, offset, {}, &Piece::end);
}

void DataRanges::add(std::uint64_t begin, std::uint64_t end, bool own) {
  if (begin >= end || scattered_) return;
  // Most files are written sequentially.
  if (pieces_.empty() || begin > pieces_.back().end) {
    pieces_.push_back({begin, end, own});
  } else if (begin == pieces_.back().end ||
             (own == pieces_.back().own && begin >= pieces_.back().begin)) {
    if (own == pieces_.back().own) {
      pieces_.back().end = std::max(pieces_.back().end, end);
    } else {
      pieces_.push_back({begin, end, own});
    }
  } else {
    // The pieces that the new range touches become at most three: the rest before it, the range
    // itself (extended by equal neighbours), and the rest after it.
    const auto first = std::ranges::lower_bound(pieces_, begin, {}, &Piece::end);
    auto last = first;
    std::array<Piece, 3> fresh{};
    std::size_t count = 0;
    Piece middle{begin, end, own};
    Piece behind{0, 0, false};
    for (; last != pieces_.end() && last->begin <= end; ++last) {
      if (last->own == own) {
        middle.begin = std::min(middle.begin, last->begin);
        middle.end = std::max(middle.end, last->end);
        continue;
      }
      if (last->begin < begin) fresh[count++] = {last->begin, begin, last->own};
      if (last->end > end) behind = {std::max(end, last->begin), last->end, last->own};
    }
    fresh[count++] = middle;
    if (behind.begin < behind.end) fresh[count++] = behind;
    const auto replaced = static_cast<std::size_t>(last - first);
    const auto common = std::min(replaced, count);
    std::copy_n(fresh.begin(), common, first);
    if (replaced > count) {
      pieces_.erase(first + static_cast<std::ptrdiff_t>(count), last);
    } else {
      pieces_.insert(last, fresh.begin() + common, fresh.begin() + count);
    }
  }
  if (pieces_.size() > kMaxPieces) {
    pieces_ = {};
    scattered_ = true;
  }
}

void DataRanges::truncate(std::uint64_t size) {
  if (size == 0) scattered_ = false;
  while (!pieces_.empty() && pieces_.back().begin >= size) pieces_.pop_back();
  if (!pieces_.empty()) pieces_.back().end = std::min(pieces_.back().end, size);
}

std::uint64_t DataRanges::last_gap_end(std::uint64_t begin, std::uint64_t end) const {
  if (begin >= end) return 0;
  // Backwards: pieces that cover the end move it forward.
  auto piece = std::ranges::lower_bound(pieces_, end, {}, &Piece::begin);
  while (piece != pieces_.begin()) {
    --piece;
    if (piece->end < end) break;
    end = piece->begin;
    if (end <= begin) return 0;
  }
  return end;
}

bool DataRanges::any_foreign(std::uint64_t begin, std::uint64_t end) const {
  if (begin >= end) return false;
  for (auto piece = first_behind(begin); piece != pieces_.end() && piece->begin < end; ++piece) {
    if (!piece->own) return true;
  }
  return false;
}

namespace {

// Programs come near what they use: the kernel reads ahead, and blocks are large.
constexpr std::uint64_t kUsedUnit = 1 << 20;
// Smaller parts that are not used are written like their surroundings, as the real file has them.
constexpr std::uint64_t kLeastUnused = 16 << 20;

}  // namespace

std::uint64_t FileData::end_of(std::uint64_t offset, std::uint64_t length) {
  if (offset >= kEndless) return kEndless;
  return offset + std::min(length, kEndless - offset);
}

void FileData::now_made() {
  origin_ = Origin::made;
  initial_size_ = 0;
  exact_ = true;
}

void FileData::now_before() {
  if (origin_ == Origin::made) exact_ = false;
  origin_ = Origin::before;
}

void FileData::begin_with(std::uint64_t size) {
  origin_ = Origin::before;
  size_ = initial_size_ = reach_ = std::min(size, kEndless);
  exact_ = true;
}

void FileData::needs_initial(std::uint64_t size) {
  origin_ = Origin::before;
  const std::uint64_t before =
      size + taken_out_ >= put_in_ ? std::min(size + taken_out_ - put_in_, kEndless) : 0;
  initial_size_ = std::max(initial_size_, before);
  reach_ = std::max(reach_, initial_size_);
  size_ = std::max(size_, size);
  guessed_ = false;
}

void FileData::is_exact() {
  exact_ = true;
  guessed_ = false;
  // The initial size is at most this.
  reach_ = std::min(reach_, size_);
}

void FileData::was_read(std::uint64_t offset, std::uint64_t asked, std::uint64_t got) {
  use(offset, got);
  const std::uint64_t end = end_of(offset, got);
  if (got != 0 && origin_ != Origin::made && end > known_initial()) {
    const bool beyond = end > size_;
    std::uint64_t needed = 0;
    if (beyond) {
      if (!cut_) needed = end;
    } else if (!ranges_.scattered() && (origin_ == Origin::before || ranges_.empty())) {
      // In a file that the trace may have created, ranges skipped by writes read as zeros.
      needed = ranges_.last_gap_end(offset, std::min(end, reach_));
    }
    if (needed > initial_size_) needs_initial(needed);
  }
  if (got >= asked) return;
  // The read reached the end of the file. A size smaller than the known one comes from overlapping
  // calls and is ignored, unless the known size was a guess.
  if (end == size_) is_exact();
  if (end < size_ && guessed_) has_size(end);
}

void FileData::was_mapped(std::uint64_t offset, std::uint64_t length) {
  use(offset, length);
  const std::uint64_t end = end_of(offset, length);
  if (origin_ != Origin::before || exact_ || end <= size_ || !ranges_.empty()) return;
  size_ = initial_size_ = end;
  guessed_ = true;
}

void FileData::has_size(std::uint64_t size) {
  size = std::min(size, kEndless);
  if (size > size_) {
    // A size that the trace did not produce existed before it. After a truncation, a size reveals
    // nothing.
    if (origin_ == Origin::made || cut_) return;
    needs_initial(size);
  } else if (size < size_) {
    if (!guessed_) return;
    size_ = initial_size_ = size;
  }
  is_exact();
}

void FileData::write(std::uint64_t offset, std::uint64_t length, bool own) {
  const std::uint64_t end = end_of(offset, length);
  if (offset >= end) return;
  use(offset, length);
  // Writing own bytes over own bytes changes nothing.
  const bool same = own && end <= known_initial() && !ranges_.any_foreign(offset, end);
  if (!same) ranges_.add(offset, end, own);
  size_ = std::max(size_, end);
}

void FileData::store(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = std::min(end_of(offset, length), size_);
  if (offset < end) ranges_.add(offset, end, false);
}

void FileData::truncate(std::uint64_t size) {
  size = std::min(size, kEndless);
  use(size, kEndless);
  if (size > size_) ranges_.add(size_, size, false);
  ranges_.truncate(size);
  cut_ = true;
  size_ = size;
  is_exact();
  if (origin_ == Origin::perhaps) origin_ = Origin::made;
}

void FileData::allocate(std::uint32_t flags, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = end_of(offset, length);
  if (offset >= end) return;
  const bool moves = (flags & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0;
  use(offset, moves ? kEndless : length);
  // Collapsed ranges and insertion points are before the end of the file.
  const std::uint64_t needed = (flags & FALLOC_FL_COLLAPSE_RANGE) != 0 ? end_of(end, 1)
                               : (flags & FALLOC_FL_INSERT_RANGE) != 0 ? end_of(offset, 1)
                                                                       : 0;
  const bool open_end = !exact_ && !cut_ && origin_ != Origin::made;
  if (needed > size_ && open_end) needs_initial(needed);
  if ((flags & FALLOC_FL_COLLAPSE_RANGE) != 0) {
    const std::uint64_t rest = size_ - std::min(size_, end - offset);
    if (offset < size_) ranges_.add(offset, size_, false);
    if (open_end) {
      size_ = rest;
      taken_out_ = std::min(taken_out_ + (end - offset), kEndless);
      return;
    }
    truncate(std::max(rest, std::min(offset, size_)));
    return;
  }
  if ((flags & FALLOC_FL_INSERT_RANGE) != 0) {
    if (offset >= size_) return;
    const std::uint64_t grown = end_of(size_, end - offset);
    ranges_.add(offset, grown, false);
    if (open_end) put_in_ = std::min(put_in_ + (grown - size_), kEndless);
    size_ = grown;
    return;
  }
  const bool zeros = (flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0;
  const std::uint64_t old_size = size_;
  if ((flags & FALLOC_FL_KEEP_SIZE) == 0 && end > size_) {
    ranges_.add(std::max(offset, old_size), end, false);
    size_ = end;
  }
  if (zeros) ranges_.add(offset, end, false);
}

void FileData::use(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = end_of(offset, length);
  if (origin_ == Origin::made || offset >= end) return;
  const std::uint64_t begin = offset - offset % kUsedUnit;
  const std::uint64_t up = end_of(end, (kUsedUnit - end % kUsedUnit) % kUsedUnit);
  if (used_.last_gap_end(begin, up) != 0) used_.add(begin, up, true);
}

void FileData::learn_hole(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = end_of(offset, length);
  if (origin_ == Origin::made || cut_ || offset >= end || ranges_.scattered()) return;
  const bool written = std::ranges::any_of(ranges_.pieces(), [&](const DataRanges::Piece& piece) {
    return piece.begin < end && offset < piece.end;
  });
  if (!written) holes_.add(offset, end, true);
}

std::vector<Hole> FileData::initial_holes() const {
  std::vector<Hole> found;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    end = std::min(end, initial_size_);
    if (begin < end) found.push_back({begin, end - begin});
  };
  for (const DataRanges::Piece& piece : holes_.pieces()) add(piece.begin, piece.end);
  if (used_.empty()) {
    add(0, initial_size_);
  } else if (!used_.scattered()) {
    std::uint64_t at = 0;
    for (const DataRanges::Piece& piece : used_.pieces()) {
      if (piece.begin - at >= kLeastUnused) add(at, piece.begin);
      at = piece.end;
    }
    if (initial_size_ > at && initial_size_ - at >= kLeastUnused) add(at, initial_size_);
  }
  std::ranges::sort(found, {}, &Hole::offset);
  std::vector<Hole> holes;
  for (const Hole& hole : found) {
    if (!holes.empty() && hole.offset <= holes.back().offset + holes.back().length) {
      Hole& last = holes.back();
      last.length = std::max(last.length, hole.offset + hole.length - last.offset);
    } else {
      holes.push_back(hole);
    }
  }
  return holes;
}

bool FileData::hole(std::uint64_t offset, std::uint64_t length) const {
  if (length == 0) return false;
  const std::uint64_t end = end_of(offset, length);
  if (ranges_.scattered() || ranges_.any_foreign(offset, end)) return true;
  return ranges_.last_gap_end(offset, end) > (origin_ == Origin::before ? known_initial() : 0);
}

}  // namespace filereel
