// How this folder works: an Exporter is a row of the table in exporters.cc, and each format is one
// file (fio_iolog.cc, json_lines.cc, chrome_trace.cc). exporters.h has their common loop, dump.h
// names the members of an operation. What a format cannot hold is counted, not dropped silently.
// Start here, then json_lines.cc, the shortest path through all of it.
//
// Exports traces in formats of other programs: the table of formats, and what they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/recorded_trace.h"

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

// Declares the exporters, for exporters().
Exporter fio_exporter();
Exporter json_lines_exporter();
Exporter chrome_trace_exporter();

// --- The loop of every exporter: operations in batches, text out in pieces.

// Calls append(operation, text) for all operations and passes `text` to `out` from time to time,
// including its previous content.
template <typename Append>
void write_pieces(RecordedSource& source, std::string& text,
                  const std::function<void(std::string_view)>& out, Append append) {
  constexpr std::size_t kBatch = 512, kPiece = 64u << 10;
  std::vector<RecordedOperation> batch(kBatch);
  while (const std::size_t count = source.next(batch)) {
    for (const RecordedOperation& operation : std::span(batch).first(count)) {
      append(operation, text);
      if (text.size() < kPiece) continue;
      out(text);
      text.clear();
    }
  }
  out(text);
  text.clear();
}

}  // namespace filereel
