// Writing traces in other programs' formats.
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

// What the format could not hold, by reason: how many operations.
using ExportLosses = std::map<std::string, std::uint64_t>;

struct Exporter {
  std::string_view name;         // as after --format
  std::string_view description;  // a line for --help
  // Writes all of `source` in pieces to `out`. Throws what these throw.
  ExportLosses (*write)(RecordedSource& source, const TraceTables& tables, const TraceInfo& info,
                        const std::function<void(std::string_view)>& out);
};

std::span<const Exporter> exporters();                 // fio, jsonl, chrome
const Exporter& find_exporter(std::string_view name);  // throws Error(usage)

}  // namespace filereel
