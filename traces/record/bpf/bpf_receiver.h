// Receives the events of the kernel program from libbpf, and watches how full the ring is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/mman.h>
#include <unistd.h>

#include "traces/check/other_changes.h"
#include "traces/record/bpf/event_queue.h"

namespace filereel {

// --- Events of processes that are not recorded.

// Adds what an event of the kind EVENT_OTHER tells. False: it is corrupt.
bool add_other_changes(std::span<const std::byte> event, OtherChanges& to);

// --- Fill level of the ring of events.
//
// The kernel could wake the reader for each event, or when some are there. Both would take time
// from the recorded thread, in whose call the event is sent. So events are sent without a wake-up
// (BPF_RB_NO_WAKEUP), and the reader looks by itself. A look must not consume anything, because
// events should stay in the ring while there is room: it reads the two positions that the kernel
// maps for consumers.

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

// --- Receives the events of the kernel program from libbpf, as its callbacks.

// No exception may pass through libbpf. So an event that finds no memory is dropped, and counted
// where the kernel program counts the events that found no room in its ring: the recording goes on,
// and says what it lacks. For one thread.
class BpfReceiver {
 public:
  // All outlive this. `lost`: counts by kind (EVENT_KINDS) and number (SHAPES).
  BpfReceiver(EventQueue& queue, OtherChanges& others, std::span<unsigned long long> lost)
      : queue_(queue), others_(others), lost_(lost) {}

  // Callbacks for the two rings; `receiver` is a BpfReceiver. 0 asks for the next event, a negative
  // number ends the reading, in put() once the queue is full, in put_other() after a number of
  // events: libbpf reads a ring until it is empty, which it never is while programs make calls
  // faster than their events are read.
  static int put(void* receiver, void* record, std::size_t size) noexcept;
  static int put_other(void* receiver, void* record, std::size_t size) noexcept;

  EventQueue& queue() { return queue_; }

  void note_no_memory() { had_no_memory_ = true; }
  // Whether lost events were lost for lack of memory. Valid after the queue has ended.
  bool had_no_memory() const { return had_no_memory_; }

 private:
  void lose(std::span<const std::byte> event) noexcept;

  EventQueue& queue_;
  OtherChanges& others_;
  std::span<unsigned long long> lost_;
  std::uint64_t others_read_ = 0;
  bool had_no_memory_ = false;
};

}  // namespace filereel
