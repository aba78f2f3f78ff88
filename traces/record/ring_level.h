// Fill level of the ring of events.
//
// The kernel could wake the reader for each event, or when some are there. Both would take time
// from the recorded thread, in whose call the event is sent. So events are sent without a wake-up
// (BPF_RB_NO_WAKEUP), and the reader looks by itself. A look must not consume anything, because
// events should stay in the ring while there is room: it reads the two positions that the kernel
// maps for consumers.
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
