// Memory for reads and writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include <stdlib.h>
#include <string.h>

namespace filereel {

// Page-aligned for direct I/O, and touched before the clock starts so that no page fault is
// measured.
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : size_(std::max<std::size_t>((size + kPage - 1) / kPage * kPage, kPage)),
        data_(static_cast<std::byte*>(aligned_alloc(kPage, size_))) {
    if (!data_) throw std::bad_alloc();
    memset(data_.get(), 1, size_);
  }

  std::size_t size() const { return size_; }
  std::byte* data() const { return data_.get(); }
  // Its first `length` bytes, or all if it is smaller.
  std::span<std::byte> first(std::uint64_t length) const {
    return {data_.get(), std::min<std::size_t>(size_, length)};
  }

 private:
  struct Free {
    void operator()(std::byte* data) const { free(data); }
  };
  static constexpr std::size_t kPage = 4096;
  std::size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace filereel
