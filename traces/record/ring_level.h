// Fill level of the ring of events.
#pragma once

#include <atomic>
#include <cstddef>

#include <sys/mman.h>
#include <unistd.h>

namespace filereel {

// Its pages are mapped as the kernel documents
// (Documentation/bpf/ringbuf.rst): the consumer position, then the producer position.
class RingLevel {
 public:
  ~RingLevel() {
    for (void* page : {read_, written_}) {
      if (page != MAP_FAILED) munmap(page, page_bytes_);
    }
  }

  // False if the level is not available.
  bool watch(int map, std::size_t bytes) {
    bytes_ = bytes;
    const auto offset = static_cast<off_t>(page_bytes_);
    read_ = mmap(nullptr, page_bytes_, PROT_READ, MAP_SHARED, map, 0);
    written_ = mmap(nullptr, page_bytes_, PROT_READ, MAP_SHARED, map, offset);
    return read_ != MAP_FAILED && written_ != MAP_FAILED;
  }

  bool is_half_full() const { return position(written_) - position(read_) >= bytes_ / 2; }

 private:
  static unsigned long position(void* page) {
    return std::atomic_ref(*static_cast<unsigned long*>(page)).load(std::memory_order_acquire);
  }

  std::size_t page_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), bytes_ = 0;
  void *read_ = MAP_FAILED, *written_ = MAP_FAILED;
};

}  // namespace filereel
