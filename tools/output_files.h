// Files that options name for what a command writes.
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

// To be called before any work is done. Throws Error(usage) if an output would be the volume or lie
// in it.
void check_outside(const std::vector<OutputFile>& outputs, const std::vector<Target>& volumes);

// To be called before any work is done. Throws Error unless each output has a place of its own and
// can be written.
void check_output_files(const std::vector<OutputFile>& outputs);

}  // namespace filereel
