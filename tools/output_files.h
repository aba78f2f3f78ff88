// Checks of the output files given by options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/volumes/target.h"

namespace filereel {

struct OutputFile {
  std::string_view option;
  std::string file;  // "" for none, "-" for standard output
};

// Call before any work. Throws Error(usage) if an output is a volume or inside one.
void check_outside(const std::vector<OutputFile>& outputs, const std::vector<Target>& volumes);

// Call before any work. Throws Error unless all outputs are distinct and writable.
void check_output_files(const std::vector<OutputFile>& outputs);

}  // namespace filereel
