// The recorder that works on this machine, and the conditions of a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filesets/system/control_groups.h"
#include "replay/run/conditions.h"
#include "traces/model/trace_builder.h"
#include "traces/record/recorder.h"

namespace filereel {

// --- Choice of a recorder that works on this machine.

struct RecorderChoice {
  const RecorderBackend* backend;
  // "with strace, several times slower: BPF needs root …".
  std::string description;
};

// The backend with this name, or for "auto" the best one that works (and, if `compat`, records
// 32-bit programs). Throws Error(usage) for an unknown name, Error(failed) if it does not work or
// none does.
RecorderChoice choose_recorder(std::string_view name, bool compat);

// For doctor: the description of the recorder that "auto" chooses, or why none works.
std::string describe_recorders();

// What disturbs a program from outside while it is recorded.
class RecordingConditions {
 public:
  // `continued`: how often filereel was continued after a stop or a freeze, if what holds up
  // filereel also holds up the program; otherwise empty.
  explicit RecordingConditions(std::function<std::uint64_t()> continued)
      : continued_(std::move(continued)) {}

  // The recording begins, of a process with this number; 0: of one that filereel started.
  void begin(std::uint32_t process);
  void end();

  // Adds what happened between begin() and end() as facts of the trace. `waited_s`: for how long
  // its threads were ready but had no processor, together; nothing if that was not recorded.
  void add_facts(TraceBuilder& builder, std::optional<double> waited_s) const;

 private:
  struct Look {
    std::vector<CpuQuota> own, of_program;  // of filereel's groups, and the process's
    Stops stops;
    ProcessorTimes processors;
    std::optional<double> program_user_s;  // unless filereel started the program
  };
  Look look() const;
  void add_busy(TraceBuilder& builder, std::optional<double> waited_s) const;

  std::function<std::uint64_t()> continued_;
  std::uint32_t process_ = 0;
  std::vector<ControlGroup> own_, of_program_;
  Look before_, after_;
};

}  // namespace filereel
