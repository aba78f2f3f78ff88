// I/O Riot's captures (importer.h).
#include "traces/import/io_riot.h"

#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/traces/importer.h"

FUZZ_TARGET(io_riot) {
  fuzz_importer(filereel::io_riot_importer(),
                std::string_view(reinterpret_cast<const char*>(data), size));
}
