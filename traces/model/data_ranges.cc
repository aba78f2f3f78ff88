#include "traces/model/data_ranges.h"

#include <algorithm>
#include <array>

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

}  // namespace filereel
