// What disturbs a program from outside while it is recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "filesets/system/control_groups.h"
#include "replay/run/conditions.h"
#include "traces/model/trace_builder.h"

namespace filereel {

class RecordingConditions {
 public:
  // `continued`: how often filereel was continued after a stop or a freeze, if what holds up
  // filereel also holds up the program; otherwise empty.
  explicit RecordingConditions(std::function<std::uint64_t()> continued)
      : continued_(std::move(continued)) {}

  // The recording begins, of a process with this number; 0: of one that filereel started.
  void begin(std::uint32_t process);
  void end();

  // Adds what happened between begin() and end() as facts of the trace.
  void add_facts(TraceBuilder& builder) const;

 private:
  struct Look {
    std::vector<CpuQuota> own, of_program;  // of filereel's groups, and the process's
    Stops stops;
  };
  Look look() const;

  std::function<std::uint64_t()> continued_;
  std::vector<ControlGroup> own_, of_program_;
  Look before_, after_;
};

}  // namespace filereel
