// Options that name files to write, and the files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "replay/volumes/target.h"

namespace filereel {

// --- Checks of the output files given by options.

struct OutputFile {
  std::string_view option;
  std::string file;  // "" for none, "-" for standard output
};

// Call before any work. Throws Error(usage) if an output is a volume or inside one.
void check_outside(const std::vector<OutputFile>& outputs, const std::vector<Target>& volumes);

// Call before any work. Throws Error unless all outputs are distinct and writable.
void check_output_files(const std::vector<OutputFile>& outputs);

// --- Options that name a file to write. The suffix of the file must suit what is written.

enum class OutputKind : std::uint8_t {
  reel,
  file_set,
  json,
  json_lines,
  page,
  csv,
  markdown,
  junit,
  iolog,
};

// Adds an option whose value is a file to write. Its value becomes "-" for all names of standard
// output, such as /dev/stdout. Parsing throws Error(usage) for the suffix of another format, and
// for binary formats on a terminal.
CLI::Option* add_output_option(CLI::App& command, const std::string& names, std::string& file,
                               OutputKind kind, const std::string& help);
// The same for an option that may be repeated.
CLI::Option* add_output_option(CLI::App& command, const std::string& names,
                               std::vector<std::string>& files, OutputKind kind,
                               const std::string& help);

// "-" for all names of standard output; other names stay.
std::string output_name(const std::string& file);

// Throws Error(usage) if the suffix of `file` is that of another format. `option`: in the message.
void check_suffix(std::string_view option, const std::string& file, OutputKind kind);
// The same for a format that is known by its usual suffix.
void check_suffix(std::string_view option, const std::string& file, std::string_view usual);

}  // namespace filereel
