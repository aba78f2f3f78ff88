#include "filesets/system/name_store.h"

#include <algorithm>
#include <cstring>

namespace filereel {

const char* NameStore::add(std::string_view text) {
  // Chunks double in size, so that small tables stay small.
  constexpr std::size_t kFirst = 1 << 10, kLargest = 1 << 20;
  const std::size_t needed = text.size() + 1;
  if (needed > free_) {
    chunk_size_ = std::clamp(chunk_size_ * 2, kFirst, kLargest);
    free_ = std::max(chunk_size_, needed);
    next_ = chunks_.emplace_back(std::make_unique_for_overwrite<char[]>(free_)).get();
  }
  char* const name = next_;
  std::memcpy(name, text.data(), text.size());
  name[text.size()] = '\0';
  next_ += needed;
  free_ -= needed;
  return name;
}

}  // namespace filereel
