#include "tools/output_files.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"

namespace filereel {

namespace {

// Takes the output of any number of options.
bool discards(const std::string& file) {
  constexpr unsigned kMemory = 1, kNull = 3;
  struct stat info{};
  return stat(file.c_str(), &info) == 0 && S_ISCHR(info.st_mode) &&
         info.st_rdev == makedev(kMemory, kNull);
}

}  // namespace

void check_output_files(const std::vector<OutputFile>& outputs) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    if (one->file.empty() || discards(one->file)) continue;
    const auto same = std::ranges::find(outputs.begin(), one, one->file, &OutputFile::file);
    if (same != one && one->file == "-") {
      throw Error(ErrorKind::usage,
                  fmt::format("only one of {} and {} can use standard output: name a file for the "
                              "other",
                              same->option, one->option));
    }
    if (same != one) {
      throw Error(ErrorKind::usage, fmt::format("{} and {} name the same file: use two files",
                                                same->option, one->option));
    }
    if (one->file != "-") AtomicFile probe(one->file);
  }
}

void check_outside(const std::vector<OutputFile>& outputs, const std::vector<Target>& volumes) {
  for (const Target& volume : volumes) {
    const std::string place = full_path(volume.path);
    for (const OutputFile& output : outputs) {
      if (output.file.empty() || output.file == "-") continue;
      const std::string file = full_path(output.file);
      const bool inside = volume.kind == TargetKind::directory && file.starts_with(place + "/");
      if (!inside && file != place) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("{} {} is inside the volume {}: name a file elsewhere", output.option,
                              printable(output.file), printable(volume.text())));
    }
  }
}

}  // namespace filereel
