// A recorded trace as a whole: its operations and what belongs to them.
#pragma once

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Can be read as often as wanted. Implemented by the reel reader, by the simulated database server
// and by copies of another trace.
class RecordedTrace : public RecordedSource {
 public:
  virtual const TraceTables& tables() const = 0;
  virtual const TraceInfo& info() const = 0;
  virtual const TraceTrees& trees() const = 0;
  // From here on next() gives the operations from the first one on again.
  virtual void rewind() = 0;
};

}  // namespace filereel
