#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "traces/import/dbench_loadfile.h"
#include "traces/import/fio_iolog.h"
#include "traces/import/importer.h"
#include "traces/import/io_riot.h"
#include "traces/import/strace_importer.h"

namespace filereel {

std::span<const Importer> importers() {
  static const std::array kImporters{
      strace_importer(),
      fio_importer(),
      dbench_importer(),
      io_riot_importer(),
  };
  return kImporters;
}

const Importer& find_importer(std::string_view name, LineReader& input) {
  const auto all = importers();
  if (name == "auto") {
    const std::string_view beginning = input.peek();
    const auto found =
        std::ranges::find_if(all, [&](const Importer& one) { return one.recognises(beginning); });
    if (found != all.end()) return *found;
  } else {
    const auto found = std::ranges::find(all, name, &Importer::name);
    if (found != all.end()) return *found;
  }
  std::string names;
  for (const Importer& one : all) {
    if (!names.empty()) names += ", ";
    names += one.name;
  }
  if (name == "auto") {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}:1: not a trace of a known format ({}); name it with --format",
                            printable(input.name()), names));
  }
  throw Error(ErrorKind::usage, fmt::format("there is no format '{}' to import: use auto, {}",
                                            printable(name), names));
}

}  // namespace filereel
