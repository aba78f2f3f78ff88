// The bytes of the drive, in memory.
#pragma once

#include <cstdint>
#include <span>

namespace filereel::model_drive {

// Takes memory only where something was written; the rest reads as zeros. Ranges must lie within
// the size. As on a drive, what requests see that touch the same bytes at the same time is open.
class Content {
 public:
  // Throws Error(failed) if there is no address space for it.
  explicit Content(std::uint64_t size);
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content();

  std::uint64_t size() const { return size_; }
  std::span<const char> read(std::uint64_t offset, std::uint64_t length) const {
    return {bytes_ + offset, length};
  }
  void write(std::uint64_t offset, std::span<const char> bytes);
  // Zeros from now on; gives back the memory of whole pages.
  void discard(std::uint64_t offset, std::uint64_t length);

 private:
  std::uint64_t size_;
  char* bytes_;
};

}  // namespace filereel::model_drive
