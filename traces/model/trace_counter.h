// Counts operations of a trace.
#pragma once

#include <cstdint>
#include <limits>

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

class TraceCounter {
 public:
  void add(const RecordedOperation& recorded);

  // Sets the counts in `info` and, for each thread, those of its operations; appends missing
  // threads. Numbers of open files, mappings and files are raised to cover those used; higher
  // values stay.
  void fill(TraceInfo& info) const;

  std::uint64_t operations() const { return counts_.operations; }
  std::uint64_t end_ns() const { return end_; }  // of the operation that ends last

 private:
  TraceInfo counts_;
  std::uint64_t begin_ = std::numeric_limits<std::uint64_t>::max(), end_ = 0;
};

}  // namespace filereel
