#include "tools/output_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "filesets/atomic_file.h"
#include "filesets/error.h"

namespace filereel {

void check_output_files(const std::vector<OutputFile>& outputs) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    if (one->file.empty()) continue;
    const auto same = std::ranges::find(outputs.begin(), one, one->file, &OutputFile::file);
    if (same != one && one->file == "-") {
      throw Error(ErrorKind::usage,
                  fmt::format("only one of {} and {} can go to standard output: name a file for "
                              "the other",
                              same->option, one->option));
    }
    if (same != one) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} and {} are the same: name two files", same->option, one->option));
    }
    if (one->file != "-") AtomicFile probe(one->file);
  }
}

}  // namespace filereel
