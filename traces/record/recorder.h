// How this folder works: a RecorderBackend (the table is in recorder.cc) makes a Recorder. It
// starts the program, or attaches to a process, and passes each call that it sees as a SystemCall
// to the CallResolver (call_resolver.h), which adds operations to a TraceBuilder. So a recorder
// only observes; what calls mean is decided elsewhere, for both backends in the same way. program.h
// holds a program back until recording has begun, running_process.h reads from /proc what was open
// before, and recording_memory.h divides the memory. Start with Recorder::record here, then read
// one backend: bpf_recorder.cc or strace_recorder.cc.
//
// Records what programs do to files. Two backends: BPF and strace.
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

#include "filesets/system/descriptor.h"
#include "traces/calls/recording_memory.h"
#include "traces/check/other_changes.h"
#include "traces/model/trace_builder.h"

namespace filereel {

// --- Records what programs do to files as a trace. Implemented with BPF in the kernel, and with
// strace for users who may not load BPF programs.

struct RecordRequest {
  std::vector<std::string> command;  // program to start, looked up in PATH, and its arguments
  sigset_t blocked{};                // initial signal mask of the program
  std::uint32_t process = 0;         // if `command` is empty: a running process
  std::string under;                 // keep only what touches this directory (absolute); empty: all
  // strace only: run the program and strace on one processor, where switching between them is ten
  // times as fast as between two.
  bool one_processor = true;
  // Called once, on the recording thread: from now on everything the program does is recorded. It
  // must not write to files of the program: their sizes are known already.
  std::function<void()> started = [] {};
  // The same when everything is recorded, maybe before it is translated.
  std::function<void()> ended = [] {};
  bool faults = true;  // record page faults of memory maps, if the backend can
  std::uint64_t memory = RecordingMemory::kDefault;  // bytes; events beyond are dropped and counted
  bool others = true;         // observe what other processes change, if the backend can
  bool content = false;       // take the first bytes of written data, for a check of the content
  double grace_seconds = 10;  // time for a started program to end after being asked
};

struct RecordOutcome {
  // Exit status of the started program, or 128 + signal if it was killed. nullopt: it is still
  // running, or was not started here.
  std::optional<int> status;
  // For the check of the recording (traces/check/): where its paths start, and by the system clock
  // in ns, its time 0 and its end.
  Descriptor root;
  std::uint64_t origin_ns = 0, ended_ns = 0;
  OtherChanges others;  // meanwhile; times since the start of the trace
};

class Recorder {
 public:
  virtual ~Recorder() = default;

  // Starts or attaches to the program and adds everything that it, its threads and its children do
  // to `builder`, until all have ended or a stop is requested. On a stop, a program started here is
  // asked to end (SIGTERM) and recorded until it has, for at most grace_seconds; an attached
  // program continues. Sets the facts of the trace and its losses. Throws Error(failed) if the
  // program cannot be started or recorded.
  virtual RecordOutcome record(const RecordRequest& request, TraceBuilder& builder,
                               const std::stop_token& stop) = 0;

  // Events that could not be stored so far. Thread-safe.
  virtual std::uint64_t lost() const = 0;
};

struct RecorderBackend {
  std::string_view name;       // name for --backend
  std::string_view what;       // in a sentence: "BPF in the kernel"
  std::uint32_t time_unit_ns;  // resolution of its times
  // Why the backend does not work here, and what to do; empty if it works. Tries it, which may take
  // some 50 ms.
  std::string (*missing)();
  bool has_ring;               // of events, in memory of the kernel
  std::uint64_t descriptors;   // that it opens at most, in addition to those of filereel
  std::string_view no_compat;  // why it cannot record 32-bit programs; empty: it can
  std::unique_ptr<Recorder> (*make)();
};

// In the order that `auto` tries them.
std::span<const RecorderBackend> recorder_backends();

// Recording with a kernel program, and with strace (bpf_recorder.cc, strace_recorder.cc).
const RecorderBackend& bpf_backend();
const RecorderBackend& strace_backend();

}  // namespace filereel
