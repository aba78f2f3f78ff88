#include "replay/run/runnable.h"

#include <optional>

#include <fmt/format.h>

#include "filesets/specification/yaml_file.h"
#include "filesets/system/error.h"
#include "filesets/system/memory.h"
#include "filesets/system/printable.h"

namespace filereel {

namespace {

Runnable read_runnable(const std::string& name_or_path) {
  if (is_catalog_plan(name_or_path)) return load_plan(name_or_path);
  if (is_catalog_workload(name_or_path)) return catalog_workload(name_or_path);
  const std::optional<std::string> text = read_yaml_file(name_or_path, "a plan or a workload");
  if (!text) {
    throw Error(ErrorKind::usage,
                fmt::format("there is no plan or workload '{}', neither in the catalogue nor as a "
                            "file: `filereel list` shows the catalogue",
                            name_or_path));
  }
  const YamlValue document = parse_yaml(*text, name_or_path, "workload");
  if (document.has_key("workload") || document.has_key("sets")) {
    return plan_from_yaml(*text, name_or_path);
  }
  return Workload::from_yaml(*text, name_or_path);
}

}  // namespace

Runnable load_runnable(const std::string& name_or_path) {
  return within_memory(fmt::format("'{}'", printable(name_or_path)),
                       [&] { return read_runnable(name_or_path); });
}

}  // namespace filereel
