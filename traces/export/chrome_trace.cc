// Chrome's Trace Event Format, for timeline viewers (Perfetto, chrome://tracing).
#include <cstdint>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "traces/export/exporters.h"
#include "traces/export/json_text.h"

namespace filereel {
namespace {

// Viewers show a row for each process and thread. Rows are the trace's thread numbers, because
// merged traces may have the same processes and threads several times.
void append_threads(const TraceInfo& info, std::string& out) {
  const auto end = std::back_inserter(out);
  for (std::size_t i = 0; i < info.threads.size(); ++i) {
    const TraceThread& thread = info.threads[i];
    fmt::format_to(end, "{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_name\",\"args\":",
                   thread.process, i);
    out += "{\"name\":";
    append_json(fmt::format("{} {}:{}", thread.name, thread.process, thread.thread), out);
    out += "}},\n";
    if (thread.name.empty()) continue;
    fmt::format_to(end, "{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"process_name\",\"args\":",
                   thread.process, i);
    out += "{\"name\":";
    append_json(thread.name, out);
    out += "}},\n";
  }
}

void append_event(const RecordedOperation& recorded, const TraceTables& tables,
                  const TraceInfo& info, std::string& out) {
  const Operation& operation = recorded.operation;
  const OperationInfo& kind = operation_info(operation.kind);
  const auto end = std::back_inserter(out);
  const std::uint32_t process =
      operation.thread < info.threads.size() ? info.threads[operation.thread].process : 0;
  // Without times, operations follow each other at intervals of one microsecond.
  const std::uint64_t start = info.timed ? recorded.start_ns : operation.position * 1000;
  const std::uint64_t duration = info.timed ? recorded.duration_ns : 1000;
  const auto begin_event = [&](std::string_view phase, std::uint64_t at) {
    fmt::format_to(
        end, "{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"cat\":\"{}\",\"ts\":", phase,
        process, operation.thread, kind.name, kind.is_call ? "file" : "order");
    append_json_us(at, out);
  };
  if (!kind.is_call) {
    begin_event("i", start);
    out += ",\"s\":\"t\"";
  } else if (operation.asynchronous) {  // these overlap within a thread
    begin_event("b", start);
    fmt::format_to(end, ",\"id\":{}", operation.position);
  } else {
    begin_event("X", start);
    out += ",\"dur\":";
    append_json_us(duration, out);
  }
  fmt::format_to(end, ",\"args\":{{\"position\":{}", operation.position);
  append_json_fields(operation, tables, out);
  out += "}},\n";
  if (kind.is_call && operation.asynchronous) {
    begin_event("e", start + duration);
    fmt::format_to(end, ",\"id\":{}}},\n", operation.position);
  }
}

ExportLosses write_chrome_trace(RecordedSource& source, const TraceTables& tables,
                                const TraceInfo& info,
                                const std::function<void(std::string_view)>& out) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  append_threads(info, text);
  write_pieces(source, text, out, [&](const RecordedOperation& recorded, std::string& events) {
    append_event(recorded, tables, info, events);
  });
  // Every event is followed by a comma, so another one ends the list.
  out("{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"trace_end\",\"args\":{}}\n]}\n");
  return {};
}

}  // namespace

Exporter chrome_trace_exporter() {
  return {.name = "chrome",
          .description = "Chrome trace events, for Perfetto and chrome://tracing",
          .suffix = ".json",
          .write = write_chrome_trace};
}

}  // namespace filereel
