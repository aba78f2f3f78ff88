// Receives the events of the kernel program from libbpf, as its callbacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "traces/check/other_changes.h"
#include "traces/record/event_queue.h"

namespace filereel {

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
