// Imports a text, for tests.
#pragma once

#include <string>
#include <string_view>

#include "filesets/system/error.h"
#include "recorded.h"
#include "traces/export/dump.h"
#include "traces/import/importers.h"

struct Imported {
  Imported(const filereel::Importer& importer, std::string_view text,
           const filereel::ImportOptions& options = {}) {
    filereel::LineReader input(text, "input");
    try {
      whole = importer.read(input, builder, options);
    } catch (const filereel::Error& caught) {
      error = caught.what();
      kind = caught.kind();
    }
  }

  // All operations, one per line: "THREAD NAME FIELDS = RESULT".
  std::string dump(bool times = false) const {
    std::string lines, line;
    for (const filereel::RecordedOperation& operation : sink.operations) {
      line.clear();
      filereel::append_dump_line(operation, tables, times, line);
      lines += line.substr(line.find(' ') + 1);
    }
    return lines;
  }

  // "path size" per file and "path/" per directory of the initial file set.
  std::string initial() const {
    std::string lines;
    for (const filereel::Entry& entry : builder.trees().initial.entries) {
      const bool directory = entry.kind == filereel::EntryKind::directory;
      lines +=
          directory ? entry.path + "/\n" : entry.path + " " + std::to_string(entry.size) + "\n";
    }
    return lines;
  }

  filereel::TraceTables tables;
  VectorSink sink;
  filereel::TraceBuilder builder{tables, sink};
  bool whole = false;
  std::string error;
  filereel::ErrorKind kind{};
};
