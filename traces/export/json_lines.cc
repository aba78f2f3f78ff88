// One JSON object per line: the first describes the trace, the others are its operations.
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "traces/export/exporters.h"
#include "traces/export/json_text.h"

namespace filereel {
namespace {

template <typename Map>
void append_counts(std::string_view name, const Map& counts, std::string& out) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":{{", name);
  bool first = true;
  for (const auto& [key, count] : counts) {
    if (!first) out += ',';
    first = false;
    append_json(key, out);
    fmt::format_to(std::back_inserter(out), ":{}", count);
  }
  out += '}';
}

void append_info(const TraceInfo& info, std::string& out) {
  const auto end = std::back_inserter(out);
  fmt::format_to(end, "{{\"format\":\"filereel-operations\",\"version\":1,\"operations\":{}",
                 info.operations);
  out += ",\"duration_us\":";
  append_json_us(info.duration_ns, out);
  fmt::format_to(end, ",\"timed\":{},\"complete\":{},\"facts\":{{", info.timed, info.complete);
  bool first = true;
  for (const auto& [name, value] : info.facts) {
    if (!first) out += ',';
    first = false;
    append_json(name, out);
    out += ':';
    append_json(value, out);
  }
  out += '}';
  append_counts("lost", info.lost, out);
  append_counts("approximated", info.approximated, out);
  out += ",\"threads\":[";
  first = true;
  for (const TraceThread& thread : info.threads) {
    fmt::format_to(end, "{}{{\"process\":{},\"thread\":{}", first ? "" : ",", thread.process,
                   thread.thread);
    first = false;
    if (thread.parent != TraceThread::kNoParent) {
      fmt::format_to(end, ",\"parent\":{}", thread.parent);
    }
    out += ",\"name\":";
    append_json(thread.name, out);
    out += '}';
  }
  out += "]}\n";
}

ExportLosses write_json_lines(RecordedSource& source, const TraceTables& tables,
                              const TraceInfo& info,
                              const std::function<void(std::string_view)>& out) {
  std::string text;
  append_info(info, text);
  write_pieces(source, text, out, [&](const RecordedOperation& recorded, std::string& line) {
    const Operation& operation = recorded.operation;
    fmt::format_to(std::back_inserter(line), "{{\"position\":{},\"thread\":{}", operation.position,
                   operation.thread);
    if (info.timed) {
      line += ",\"start_us\":";
      append_json_us(recorded.start_ns, line);
      line += ",\"duration_us\":";
      append_json_us(recorded.duration_ns, line);
    }
    fmt::format_to(std::back_inserter(line), ",\"operation\":\"{}\"",
                   operation_info(operation.kind).name);
    append_json_fields(operation, tables, line);
    line += "}\n";
  });
  return {};
}

}  // namespace

Exporter json_lines_exporter() {
  return {.name = "jsonl",
          .description = "one JSON object per operation",
          .suffix = ".jsonl",
          .write = write_json_lines};
}

}  // namespace filereel
