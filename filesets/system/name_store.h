// Texts at stable addresses, for tables with millions of names.
#pragma once

#include <cstddef>
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

}  // namespace filereel
