// Texts at stable addresses, for tables with millions of names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace filereel {

// A text costs its length and a null byte; a std::string costs 32 bytes and often an allocation.
class NameStore {
 public:
  // Copies `text` and adds a null byte. The address is valid as long as the store, also if it
  // moves.
  const char* add(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;  // free bytes of the last chunk
  std::size_t free_ = 0;
  std::size_t chunk_size_ = 0;
};

// --- A hash table of numbers, for tables with millions of rows.

// Finds rows of a table by a key. Stores only the numbers of the rows, in 6 to 12 bytes each; the
// owner of the table supplies hashes and comparisons. Numbers are not removed.
class NumberIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;  // not a number of a row

  // The hash of a name in a directory, both of which may be anything that is compared with ==.
  static std::uint64_t hash(std::uint32_t directory, std::string_view name) {
    std::uint64_t mixed = std::hash<std::string_view>()(name) + directory * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93ULL;
    return mixed ^ (mixed >> 32);
  }

  // Makes room for this many numbers in total.
  template <class HashOf>
  void reserve(std::size_t numbers, HashOf hash_of) {
    const std::size_t slots = numbers + numbers / 2 + 8;
    if (slots <= slots_.size()) return;
    std::vector<std::uint32_t> old(slots, kNone);
    old.swap(slots_);
    for (const std::uint32_t number : old) {
      if (number != kNone) place(number, hash_of(number));
    }
  }

  // The number with this hash for which `is(number)` holds, or kNone.
  template <class Is>
  std::uint32_t find(std::uint64_t hash, Is is) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = slot_of(hash); slots_[at] != kNone; at = next(at)) {
      if (is(slots_[at])) return slots_[at];
    }
    return kNone;
  }

  // Adds a number that find does not find; `hash_of(number)` is its hash.
  template <class HashOf>
  void insert(std::uint32_t number, HashOf hash_of) {
    if ((size_ + 1) * 3 > slots_.size() * 2) reserve(size_ * 2 + 8, hash_of);
    place(number, hash_of(number));
    ++size_;
  }

 private:
  // Maps the hash to the slots in proportion, so that their number can be any.
  std::size_t slot_of(std::uint64_t hash) const {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(hash) * slots_.size()) >> 64);
  }
  std::size_t next(std::size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }

  void place(std::uint32_t number, std::uint64_t hash) {
    std::size_t at = slot_of(hash);
    while (slots_[at] != kNone) at = next(at);
    slots_[at] = number;
  }

  std::vector<std::uint32_t> slots_;  // at most two thirds are in use
  std::size_t size_ = 0;
};

}  // namespace filereel
