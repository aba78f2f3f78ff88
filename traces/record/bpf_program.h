// The recorder's program in the kernel: loaded, attached and taken out again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "traces/model/trace_builder.h"
#include "traces/record/event_queue.h"

namespace filereel {

class BpfProgram {
 public:
  struct Options {
    bool faults = true;
    std::uint32_t ring_bytes;  // a power of two, and of pages
  };

  // Loads it; it does nothing yet. Throws Error(failed).
  explicit BpfProgram(const Options& options);
  ~BpfProgram();
  BpfProgram(const BpfProgram&) = delete;
  BpfProgram& operator=(const BpfProgram&) = delete;

  // From here on it is called at every system call of the machine.
  void attach();

  struct Thread {
    std::uint32_t process, thread;
  };
  // Follows a process that exists with all that descends from it and is not this process or made by
  // it. Those that were not followed before. To be called after start_recording().
  std::vector<Thread> adopt(std::uint32_t process);
  void start_recording();
  void stop_recording();

  // Threads that are recorded and live.
  std::uint64_t running() const;

  // Takes what is in the ring into `queue` on a thread of its own, until the object is destroyed
  // or finish_draining() has taken the rest.
  void start_draining(EventQueue& queue);
  void finish_draining();

  std::uint64_t lost() const;                    // so far; on any thread
  void count_lost(TraceBuilder& builder) const;  // by kind

 private:
  struct State;
  void drain(const std::stop_token& stop);

  std::unique_ptr<State> state_;
};

// Why it cannot be used here, and what to do; empty if it can.
std::string bpf_missing();

}  // namespace filereel
