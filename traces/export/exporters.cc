#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "traces/export/formats.h"

namespace filereel {

std::span<const Exporter> exporters() {
  static const std::array kExporters = {fio_exporter(), json_lines_exporter(),
                                        chrome_trace_exporter()};
  return kExporters;
}

const Exporter& find_exporter(std::string_view name) {
  const auto found = std::ranges::find(exporters(), name, &Exporter::name);
  if (found != exporters().end()) return *found;
  throw Error(ErrorKind::usage, fmt::format("unknown export format '{}'{}", printable(name),
                                            use_one_of(name, names_of_all(exporters()))));
}

}  // namespace filereel
