#include "traces/calls/mapping_table.h"

#include <algorithm>
#include <iterator>

namespace filereel {

void MappingUses::add(FileSlot mapping) {
  if (mapping >= uses_.size()) uses_.resize(std::size_t{mapping} + 1);
  ++uses_[mapping];
}

bool MappingUses::remove(FileSlot mapping) {
  return --uses_[mapping] == 0;
}

std::uint64_t AddressSpace::end_of(std::uint64_t address, std::uint64_t length) {
  const std::uint64_t highest = UINT64_MAX & ~(kPage - 1);
  if (length > highest - std::min(address, highest)) return highest;
  return std::min((address + length + kPage - 1) & ~(kPage - 1), highest);
}

bool AddressSpace::add(std::uint64_t begin, const MappedPiece& piece, MappingUses& uses) {
  if (pieces_.size() >= kMaxPieces || begin >= piece.end) return false;
  if (!pieces_.emplace(begin, piece).second) return false;
  by_file_.emplace(piece.shown.file, begin);
  uses.add(piece.mapping);
  return true;
}

bool AddressSpace::add_unplaced(std::uint64_t length, FileSlot mapping, const MappedFile& shown,
                                MappingUses& uses) {
  const std::uint64_t behind = pieces_.empty() ? 0 : pieces_.rbegin()->second.end;
  const std::uint64_t begin = std::max(kUnknownAddress, behind);
  return add(begin, {end_of(begin, length), mapping, 0, shown}, uses);
}

AddressSpace::Pieces::iterator AddressSpace::erase(Pieces::iterator piece) {
  by_file_.erase({piece->second.shown.file, piece->first});
  return pieces_.erase(piece);
}

std::vector<FileSlot> AddressSpace::remove(std::uint64_t begin, std::uint64_t end,
                                           MappingUses& uses) {
  std::vector<FileSlot> gone;
  if (begin >= end) return gone;
  auto at = pieces_.upper_bound(begin);
  if (at != pieces_.begin()) --at;
  while (at != pieces_.end() && at->first < end) {
    const std::uint64_t piece_begin = at->first;
    const MappedPiece piece = at->second;
    if (piece.end <= begin) {
      ++at;
      continue;
    }
    if (piece.end > end) {
      MappedPiece rest = piece;
      rest.offset += end - piece_begin;
      pieces_.emplace(end, rest);
      by_file_.emplace(piece.shown.file, end);
      uses.add(piece.mapping);
    }
    if (piece_begin < begin) {
      at->second.end = begin;
      ++at;
    } else {
      at = erase(at);
      if (uses.remove(piece.mapping)) gone.push_back(piece.mapping);
    }
  }
  return gone;
}

std::vector<FileSlot> AddressSpace::move(std::uint64_t from, std::uint64_t end, std::uint64_t to,
                                         std::uint64_t length, MappingUses& uses) {
  struct Moved {
    std::uint64_t begin;
    MappedPiece piece;
  };
  std::vector<Moved> moved;
  const std::uint64_t new_end = end_of(to, length);
  for (auto at = pieces_.lower_bound(from); at != pieces_.end() && at->first < end; ++at) {
    Moved one{at->first - from + to, at->second};
    if (one.begin < to || one.begin >= new_end) continue;
    // The grown part shows bytes of the file that the replayed mapping does not have.
    one.piece.end = std::min(at->second.end - from + to, new_end);
    moved.push_back(one);
    uses.add(one.piece.mapping);  // removing must not end the mapping
  }
  std::vector<FileSlot> gone = remove(from, end, uses);
  std::ranges::copy(remove(to, new_end, uses), std::back_inserter(gone));
  for (const Moved& one : moved) {
    add(one.begin, one.piece, uses);
    if (uses.remove(one.piece.mapping)) gone.push_back(one.piece.mapping);
  }
  return gone;
}

std::vector<AddressSpace::Part> AddressSpace::parts(std::uint64_t begin, std::uint64_t end) const {
  std::vector<Part> found;
  auto at = pieces_.upper_bound(begin);
  if (at != pieces_.begin()) --at;
  for (; at != pieces_.end() && at->first < end; ++at) {
    const std::uint64_t first = std::max(begin, at->first);
    const std::uint64_t last = std::min(end, at->second.end);
    if (first < last) {
      found.push_back({at->second.mapping, at->second.offset + (first - at->first), last - first});
    }
  }
  return found;
}

std::vector<AddressSpace::Part> AddressSpace::parts_of_file(FileId file, std::uint64_t begin,
                                                            std::uint64_t end,
                                                            bool only_shared) const {
  std::vector<Part> found;
  struct Shown {
    std::uint64_t begin, end;  // in the file
    const MappedPiece* piece;
  };
  std::vector<Shown> shown;
  for (auto at = by_file_.lower_bound({file, 0}); at != by_file_.end() && at->first == file; ++at) {
    const auto& [address, piece] = *pieces_.find(at->second);
    if (only_shared && !piece.shown.shared) continue;
    const std::uint64_t first = piece.shown.offset + piece.offset;
    const std::uint64_t last = first + std::min(piece.end - address, UINT64_MAX - first);
    if (first < end && begin < last) shown.push_back({first, last, &piece});
  }
  std::ranges::sort(shown, {}, &Shown::begin);
  for (const Shown& one : shown) {
    begin = std::max(begin, one.begin);
    const std::uint64_t last = std::min(end, one.end);
    if (begin >= last) continue;
    found.push_back({one.piece->mapping, begin - one.piece->shown.offset, last - begin});
    begin = last;
  }
  return found;
}

void AddressSpace::copy_from(const AddressSpace& other, MappingUses& uses) {
  pieces_ = other.pieces_;
  by_file_ = other.by_file_;
  for (const auto& [begin, piece] : pieces_) uses.add(piece.mapping);
}

}  // namespace filereel
