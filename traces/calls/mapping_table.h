// Which files are mapped where in an address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "traces/operation.h"

namespace filereel {

// What a mapping shows.
struct MappedFile {
  FileId file = kNoFileId;
  std::uint64_t offset = 0;  // of the mapping's begin in the file
  bool shared = false;
};

// Part of a mapping that is still there: a mapping loses pieces when other maps or unmaps lie over
// it.
struct MappedPiece {
  std::uint64_t end = 0;
  FileSlot mapping = 0;
  std::uint64_t offset = 0;  // of the piece's begin in the mapping
  MappedFile shown;          // by the whole mapping
};

// How many pieces each mapping has, in all address spaces: forked processes share mappings.
class MappingUses {
 public:
  void add(FileSlot mapping);
  // True if it was the last.
  bool remove(FileSlot mapping);

 private:
  std::vector<std::uint32_t> uses_;
};

// Shared by the tasks that were cloned with CLONE_VM. Anonymous memory is not kept.
class AddressSpace {
 public:
  static constexpr std::uint64_t kPage = 4096;
  // Linux allows 65,530 by default.
  static constexpr std::size_t kMaxPieces = 1 << 17;

  // The page-aligned end of what begins at `address`; at most the highest address.
  static std::uint64_t end_of(std::uint64_t address, std::uint64_t length);

  // False if there are too many pieces already. What was there must have been removed.
  bool add(std::uint64_t begin, const MappedPiece& piece, MappingUses& uses);

  // Adds a mapping of the whole file whose address nobody knows: it stays until all go.
  bool add_somewhere(std::uint64_t length, FileSlot mapping, const MappedFile& shown,
                     MappingUses& uses);

  // Takes [begin, end) out. Returns the mappings whose last piece went.
  std::vector<FileSlot> remove(std::uint64_t begin, std::uint64_t end, MappingUses& uses);

  // Moves [from, end) to begin at `to`, `length` bytes long from now on. Returns the same.
  std::vector<FileSlot> move(std::uint64_t from, std::uint64_t end, std::uint64_t to,
                             std::uint64_t length, MappingUses& uses);

  struct Part {
    FileSlot mapping;
    std::uint64_t offset;  // in the mapping
    std::uint64_t length;
  };
  // What is mapped in [begin, end).
  std::vector<Part> parts(std::uint64_t begin, std::uint64_t end) const;
  // Where the bytes [begin, end) of a file are mapped, each byte once, as far as they are.
  std::vector<Part> parts_of_file(FileId file, std::uint64_t begin, std::uint64_t end,
                                  bool only_shared) const;

  void copy_from(const AddressSpace& other, MappingUses& uses);

 private:
  using Pieces = std::map<std::uint64_t, MappedPiece>;
  // Addresses that no program has.
  static constexpr std::uint64_t kSomewhere = 1ULL << 63;

  Pieces::iterator erase(Pieces::iterator piece);

  Pieces pieces_;                                       // by their begin
  std::set<std::pair<FileId, std::uint64_t>> by_file_;  // their begins
};

}  // namespace filereel
