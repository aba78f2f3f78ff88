// dbench's load files (importer.h).
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/traces/importer.h"
#include "traces/import/importers.h"

FUZZ_TARGET(dbench) {
  fuzz_importer(filereel::dbench_importer(),
                std::string_view(reinterpret_cast<const char*>(data), size));
}
