// How this folder works: an Importer is a row of the table in importers.cc. Each reads lines
// (line_reader.cc) of one format into a TraceBuilder, directly (fio_iolog.cc, dbench_loadfile.cc)
// or as calls (SystemCall) for a CallResolver (strace). strace_import.h passes on
// strace's lines, strace_reader.h reads one call by the table of calls, and strace_lexer.h and
// strace_text.h its text. Start with Importer below, then fio_iolog.cc for a small format or
// strace_import.cc for the large one.
//
// Imports traces of other programs: the table of formats, and their declarations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "traces/calls/path_resolution.h"
#include "traces/calls/recording_memory.h"
#include "traces/import/line_reader.h"
#include "traces/model/trace_builder.h"

namespace filereel {

struct ImportOptions {
  std::string working_directory = "/";  // of the recorded program, if missing from the trace
  std::string under{};                  // see ResolverOptions
  std::stop_token stop{};
  // The input is being written by a program that runs on this machine since this time of the
  // system's clock.
  struct Live {
    std::uint64_t since_ns = 0;
    std::uint32_t process = 0;
    std::vector<std::string> roots = {};  // to remove from the tracer's paths, see cut_root
    std::vector<BoundName> bound = {};    // see ResolverOptions
    MemoryBound* memory = nullptr;        // limit beyond which calls are dropped; null: none
  };
  std::optional<Live> live{};
};

// One format. Reads all of `input` into `builder`. Throws Error(unusable_input) "NAME:LINE: what is
// wrong; what to do". Returns false if the stop was requested.
struct Importer {
  std::string_view name;         // for --format
  std::string_view description;  // a line for --help
  bool timed;                    // the format has times; see TraceInfo::timed
  std::uint32_t time_unit_ns;    // their resolution
  bool (*recognises)(std::string_view beginning);
  bool (*read)(LineReader& input, TraceBuilder& builder, const ImportOptions& options);
};

// All formats, in the order of recognition.
std::span<const Importer> importers();

// The importer with this name, or for "auto" the one that recognises the start of the input. Throws
// Error(usage) for an unknown name, Error(unusable_input) if none recognises the input.
const Importer& find_importer(std::string_view name, LineReader& input);

// Imports the output of strace (man 1 strace): with or without -f, -t, -tt, -ttt, -r, -T, -y, -s,
// -v, -x.
const Importer& strace_importer();

// fio's logs of I/O, versions 2 and 3 (docs/import.md).
const Importer& fio_importer();

// dbench's load files: the effect of each line in its file system backend (docs/import.md).
const Importer& dbench_importer();

}  // namespace filereel
