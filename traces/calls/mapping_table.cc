#include "traces/calls/mapping_table.h"

#include <algorithm>

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

bool AddressSpace::add(std::uint64_t begin, std::uint64_t end, FileSlot mapping,
                       std::uint64_t offset, MappingUses& uses) {
  if (pieces_.size() >= kMaxPieces || begin >= end) return false;
  if (!pieces_.emplace(begin, MappedPiece{end, mapping, offset}).second) return false;
  uses.add(mapping);
  return true;
}

void AddressSpace::remove(std::uint64_t begin, std::uint64_t end, MappingUses& uses,
                          std::vector<FileSlot>& gone) {
  if (begin >= end) return;
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
      pieces_.emplace(end,
                      MappedPiece{piece.end, piece.mapping, piece.offset + (end - piece_begin)});
      uses.add(piece.mapping);
    }
    if (piece_begin < begin) {
      at->second.end = begin;
      ++at;
    } else {
      at = pieces_.erase(at);
      if (uses.remove(piece.mapping)) gone.push_back(piece.mapping);
    }
  }
}

void AddressSpace::move(std::uint64_t from, std::uint64_t end, std::uint64_t to,
                        std::uint64_t length, MappingUses& uses, std::vector<FileSlot>& gone) {
  struct Moved {
    std::uint64_t begin;
    MappedPiece piece;
  };
  std::vector<Moved> moved;
  const std::uint64_t new_end = end_of(to, length);
  for (auto at = pieces_.lower_bound(from); at != pieces_.end() && at->first < end; ++at) {
    Moved one{at->first - from + to, at->second};
    if (one.begin < to || one.begin >= new_end) continue;
    // What grows shows bytes of the file that the mapping which is replayed has not.
    one.piece.end = std::min(at->second.end - from + to, new_end);
    moved.push_back(one);
    uses.add(one.piece.mapping);  // removing must not end the mapping
  }
  remove(from, end, uses, gone);
  remove(to, new_end, uses, gone);
  for (const Moved& one : moved) {
    add(one.begin, one.piece.end, one.piece.mapping, one.piece.offset, uses);
    if (uses.remove(one.piece.mapping)) gone.push_back(one.piece.mapping);
  }
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

void AddressSpace::copy_from(const AddressSpace& other, MappingUses& uses) {
  pieces_ = other.pieces_;
  for (const auto& [begin, piece] : pieces_) uses.add(piece.mapping);
}

}  // namespace filereel
