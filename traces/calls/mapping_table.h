// Tracks which files are mapped where in an address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "traces/operation.h"

namespace filereel {

// The content of a mapping.
struct MappedFile {
  FileId file = kNoFileId;
  std::uint64_t offset = 0;  // of the mapping's start, in the file
  bool shared = false;
};

// A remaining part of a mapping: later maps and unmaps over it remove pieces.
struct MappedPiece {
  std::uint64_t end = 0;
  FileSlot mapping = 0;
  std::uint64_t offset = 0;  // of the piece's start, in the mapping
  MappedFile shown;          // by the whole mapping
};

// Number of pieces of each mapping, over all address spaces: forked processes share mappings.
class MappingUses {
 public:
  void add(FileSlot mapping);
  // True if it was the last piece.
  bool remove(FileSlot mapping);

 private:
  std::vector<std::uint32_t> uses_;
};

// Shared by tasks cloned with CLONE_VM. Anonymous memory is not tracked.
class AddressSpace {
 public:
  // The smallest page size of all processors. Starts of mappings are multiples of larger ones, too.
  static constexpr std::uint64_t kPage = 4096;
  // Linux allows 65,530 by default.
  static constexpr std::size_t kMaxPieces = 1 << 17;

  // The page-aligned end of the range that starts at `address`; at most the highest address.
  static std::uint64_t end_of(std::uint64_t address, std::uint64_t length);

  // False if there are too many pieces. The range must have been removed before.
  bool add(std::uint64_t begin, const MappedPiece& piece, MappingUses& uses);

  // Adds a mapping of the whole file at an unknown address: it stays until everything is unmapped.
  bool add_unplaced(std::uint64_t length, FileSlot mapping, const MappedFile& shown,
                    MappingUses& uses);

  // Removes [begin, end). Returns the mappings whose last piece was removed.
  std::vector<FileSlot> remove(std::uint64_t begin, std::uint64_t end, MappingUses& uses);

  // Moves [from, end) to `to` with a new length of `length` bytes. Returns the same.
  std::vector<FileSlot> move(std::uint64_t from, std::uint64_t end, std::uint64_t to,
                             std::uint64_t length, MappingUses& uses);

  struct Part {
    FileSlot mapping;
    std::uint64_t offset;  // in the mapping
    std::uint64_t length;
  };
  // The mapped parts of [begin, end).
  std::vector<Part> parts(std::uint64_t begin, std::uint64_t end) const;
  // The mapped parts of the bytes [begin, end) of a file, each byte at most once.
  std::vector<Part> parts_of_file(FileId file, std::uint64_t begin, std::uint64_t end,
                                  bool only_shared) const;

  void copy_from(const AddressSpace& other, MappingUses& uses);

 private:
  using Pieces = std::map<std::uint64_t, MappedPiece>;
  // Addresses that no program uses.
  static constexpr std::uint64_t kUnknownAddress = 1ULL << 63;

  Pieces::iterator erase(Pieces::iterator piece);

  Pieces pieces_;                                       // by start
  std::set<std::pair<FileId, std::uint64_t>> by_file_;  // their starts
};

}  // namespace filereel
