#include "traces/export/exporters.h"

#include <array>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"

namespace filereel {

std::span<const Exporter> exporters() {
  static const std::array kExporters = {fio_exporter(), json_lines_exporter(),
                                        chrome_trace_exporter()};
  return kExporters;
}

const Exporter& find_exporter(std::string_view name) {
  if (const auto* found = find_or_null(exporters(), name, &Exporter::name)) return *found;
  throw Error(ErrorKind::usage, fmt::format("unknown export format '{}'{}", printable(name),
                                            use_one_of(name, names_of_all(exporters()))));
}

}  // namespace filereel
