#include "traces/import/importers.h"

#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"

namespace filereel {

std::span<const Importer> importers() {
  static const std::array kImporters{
      strace_importer(),
      fio_importer(),
      dbench_importer(),
  };
  return kImporters;
}

const Importer& find_importer(std::string_view name, LineReader& input) {
  const auto all = importers();
  if (name == "auto") {
    const std::string_view beginning = input.peek();
    const Importer* const found = find_if_or_null(
        all, [&](const Importer& importer) { return importer.recognises(beginning); });
    if (found) return *found;
  } else if (const auto* found = find_or_null(all, name, &Importer::name)) {
    return *found;
  }
  std::vector<std::string_view> names = names_of_all(all);
  if (name == "auto") {
    throw Error(
        ErrorKind::unusable_input,
        fmt::format("{}:1: unrecognised trace format (known formats: {}); name it with --format",
                    printable(input.name()), fmt::join(names, ", ")));
  }
  names.insert(names.begin(), "auto");
  throw Error(ErrorKind::usage, fmt::format("unknown import format '{}'{}", printable(name),
                                            use_one_of(name, names)));
}

}  // namespace filereel
