// Recording programs: what they do to files becomes a trace. Implemented with BPF in the kernel and
// with strace, for those who may not load BPF programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <signal.h>

#include "traces/model/trace_builder.h"
#include "traces/record/recording_memory.h"

namespace filereel {

struct RecordRequest {
  std::vector<std::string> command;  // the program to start, looked up in PATH, and its arguments
  sigset_t blocked{};                // the signal mask that the program begins with
  std::uint32_t process = 0;         // where `command` is empty: one that runs already
  std::string under;                 // keep only what touches this directory, absolute; empty: all
  // strace alone: the program shares one processor with it, on which they take turns ten times as
  // fast as on two.
  bool one_processor = true;
  // Called once, on the thread that records: from now on all that the program does is recorded.
  std::function<void()> started = [] {};
  bool faults = true;  // memory maps' faults too, where the backend can see them
  std::uint64_t memory = RecordingMemory::kDefault;  // bytes; what needs more is dropped, counted
  double grace_seconds = 10;  // that a started program has to end once it was asked to
};

struct RecordOutcome {
  // How the started program ended: its exit status, 128 + signal if it was killed. None: it still
  // runs, or it was not started here.
  std::optional<int> status;
};

class Recorder {
 public:
  virtual ~Recorder() = default;

  // Starts or attaches to the program and puts all that it, its threads and its children do into
  // `builder`, until all have ended or the stop is requested; then a program that was started here
  // is asked to end (SIGTERM) and recorded until it has, at most grace_seconds, and one that was
  // attached to goes on. Throws Error(failed) if it cannot be started or recorded. The facts of the
  // trace, and what was lost, are set.
  virtual RecordOutcome record(const RecordRequest& request, TraceBuilder& builder,
                               const std::stop_token& stop) = 0;

  // Events that could not be stored so far. May be called from any thread.
  virtual std::uint64_t lost() const = 0;
};

struct RecorderBackend {
  std::string_view name;       // as after --backend
  std::string_view what;       // in a sentence: "BPF in the kernel"
  std::uint32_t time_unit_ns;  // the resolution of its times
  // Why it does not work here and what to do about it; empty if it does. Tries it out, which may
  // take some 50 ms.
  std::string (*missing)();
  std::string_view no_compat;  // why it does not record 32-bit programs; empty: it does
  std::unique_ptr<Recorder> (*make)();
};

// In the order in which `auto` tries them.
std::span<const RecorderBackend> recorder_backends();

}  // namespace filereel
