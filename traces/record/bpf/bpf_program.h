// The recorder's kernel program: loading, attaching and detaching.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "traces/check/other_changes.h"
#include "traces/model/trace_builder.h"
#include "traces/record/bpf/event_queue.h"

namespace filereel {

class BpfProgram {
 public:
  struct Options {
    bool faults = true;
    bool others = false;       // report what processes that are not recorded change
    bool content = false;      // report the first bytes of written data
    std::uint32_t ring_bytes;  // a power of two and a multiple of the page size
  };

  // Loads the program without attaching it. Throws Error(failed).
  explicit BpfProgram(const Options& options);
  ~BpfProgram();
  BpfProgram(const BpfProgram&) = delete;
  BpfProgram& operator=(const BpfProgram&) = delete;

  // From here on, the program runs at every system call of the machine.
  void attach();

  struct Thread {
    std::uint32_t process, thread;
  };
  // Follows an existing process and its descendants, except this process and its descendants.
  // Returns the threads that were not followed before. Call it after start_recording().
  std::vector<Thread> adopt(std::uint32_t process);
  // What the recorder takes from a thread, in ns: for each call; in addition for a call whose event
  // has no parts; or for one whose event fits the small form.
  struct Costs {
    std::uint32_t other = 0, plain = 0, small = 0;
  };
  void set_costs(const Costs& costs);
  // Drops the events so far.
  void discard_events();
  void start_recording();
  void stop_recording();

  // The variant of the program that the kernel accepts, see bpf_parts_kernel.h. A slower one
  // records the same, so nobody notices if an edit makes the verifier reject a faster one.
  enum class Form : std::uint8_t { direct, typed, portable };  // the fastest first
  Form form() const;

  // Number of live recorded threads.
  std::uint64_t running() const;

  // Drains the ring into `queue` on a separate thread, which also adds to `others`.
  // finish_draining() returns immediately: the thread drains the rest and ends the queue, after
  // which `others` is complete. Without memory for an event, the thread drops it and counts it as
  // lost.
  void start_draining(EventQueue& queue, OtherChanges& others);
  void finish_draining();

  std::uint64_t lost() const;                    // so far; thread-safe
  void count_lost(TraceBuilder& builder) const;  // by kind

 private:
  struct State;
  void drain(const std::stop_token& stop);

  std::unique_ptr<State> state_;
};

// Why BPF cannot be used here, and what to do; empty if it can.
std::string bpf_missing();

}  // namespace filereel
