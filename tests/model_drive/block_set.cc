#include "tests/model_drive/block_set.h"

#include <algorithm>
#include <bit>

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kBitsPerWord = 64;

std::uint64_t bits_in(std::uint64_t word) {
  return static_cast<std::uint64_t>(std::popcount(word));
}

// Calls `visit` for each word with a part of the range, with a mask of this part.
template <typename Words, typename Visit>
void visit_words(Words& words, std::uint64_t first, std::uint64_t end, Visit visit) {
  while (first < end) {
    const std::uint64_t low = first % kBitsPerWord;
    const std::uint64_t bits = std::min(kBitsPerWord - low, end - first);
    visit(words[first / kBitsPerWord], (UINT64_MAX >> (kBitsPerWord - bits)) << low);
    first += bits;
  }
}

}  // namespace

void BlockSet::add(std::uint64_t first, std::uint64_t end) {
  visit_words(words_, first, std::min(end, blocks_), [&](std::uint64_t& word, std::uint64_t mask) {
    count_ += bits_in(mask & ~word);
    word |= mask;
  });
}

void BlockSet::remove(std::uint64_t first, std::uint64_t end) {
  visit_words(words_, first, std::min(end, blocks_), [&](std::uint64_t& word, std::uint64_t mask) {
    count_ -= bits_in(mask & word);
    word &= ~mask;
  });
}

std::uint64_t BlockSet::count(std::uint64_t first, std::uint64_t end) const {
  std::uint64_t found = 0;
  visit_words(words_, first, std::min(end, blocks_),
              [&](std::uint64_t word, std::uint64_t mask) { found += bits_in(mask & word); });
  return found;
}

}  // namespace filereel::model_drive
