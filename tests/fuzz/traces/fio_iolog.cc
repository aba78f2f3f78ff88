// fio's iologs (importer.h).
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/traces/importer.h"
#include "traces/import/importers.h"

FUZZ_TARGET(fio_iolog) {
  fuzz_importer(filereel::fio_importer(),
                std::string_view(reinterpret_cast<const char*>(data), size));
}
