// How this folder works: an Exporter is a row of the table in exporters.cc, and each format is one
// file (fio_iolog.cc, json_lines.cc, chrome_trace.cc). pieces.h is their common loop,
// operation_fields.h names the members of an operation. What a format cannot hold is counted, not
// dropped silently. Start here, then json_lines.cc, the shortest path through all of it.
//
// Exports traces in formats of other programs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Losses of the format: number of operations by reason.
using ExportLosses = std::map<std::string, std::uint64_t>;

struct Exporter {
  std::string_view name;         // for --format
  std::string_view description;  // a line for --help
  std::string_view suffix;       // usual one of its files
  // Writes all of `source` in pieces to `out`. Throws their exceptions.
  ExportLosses (*write)(RecordedSource& source, const TraceTables& tables, const TraceInfo& info,
                        const std::function<void(std::string_view)>& out);
};

std::span<const Exporter> exporters();                 // fio, jsonl, chrome
const Exporter& find_exporter(std::string_view name);  // throws Error(usage)

}  // namespace filereel
