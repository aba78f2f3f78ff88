#include "traces/trace_text.h"

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/units.h"

namespace filereel {

std::string describe_trace(const TraceInfo& info) {
  std::string text = fmt::format(
      "{} by {} on {}", counted(info.operations, "operation", "operations"),
      counted(info.threads.size(), "thread", "threads"), counted(info.files, "file", "files"));
  if (info.bytes_read > 0) text += ", " + format_size(info.bytes_read) + " read";
  if (info.bytes_written > 0) text += ", " + format_size(info.bytes_written) + " written";
  if (info.timed) {
    text += ", " + format_duration(static_cast<double>(info.duration_ns) * 1e-9);
  }
  return text;
}

}  // namespace filereel
