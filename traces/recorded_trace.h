// A complete recorded trace: its operations and their metadata.
#pragma once

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Can be read any number of times. Implemented by the reel reader, by the simulated database server
// and by copies of another trace.
class RecordedTrace : public RecordedSource {
 public:
  virtual const TraceTables& tables() const = 0;
  virtual const TraceInfo& info() const = 0;
  virtual const TraceTrees& trees() const = 0;
  // Makes next() restart at the first operation.
  virtual void rewind() = 0;
};

}  // namespace filereel
