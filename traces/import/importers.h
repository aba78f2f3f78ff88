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
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/descriptor.h"
#include "traces/calls/path_resolution.h"
#include "traces/calls/recording_memory.h"
#include "traces/model/trace_builder.h"

namespace filereel {

// Imports traces of other programs.

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

// Text input, line by line, in bounded memory.
class LineReader {
 public:
  // "-" is standard input. Throws Error(failed) if it cannot be opened. Waits for a writer of a
  // pipe; a requested stop ends the input.
  explicit LineReader(const std::string& path, std::stop_token stop = {});
  // A pipe into which another program writes. Waits for its first bytes.
  LineReader(Descriptor input, std::string name);
  // The text itself; for tests. It outlives the reader.
  LineReader(std::string_view text, std::string name);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // The last line of next() had no newline: the input may be cut off within it.
  bool is_cut() const;
  // The next line without its newline, valid until the next call; false at the end. A line longer
  // than 16 MiB throws Error(unusable_input).
  bool next(std::string_view& line);

  // The first bytes of the input (up to 64 KiB, or the bytes available from a pipe), which next()
  // returns again.
  std::string_view peek();

  // The same input from its start; null if it can be read only once, such as a pipe.
  std::unique_ptr<LineReader> again() const;

  const std::string& name() const;
  std::uint64_t line() const;  // number of the last line returned, from 1

 private:
  struct State;
  std::unique_ptr<State> state_;
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
