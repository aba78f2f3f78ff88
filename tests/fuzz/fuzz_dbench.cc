// dbench's load files (fuzz_importer.h).
#include <cstdint>
#include <string_view>

#include "fuzz_importer.h"
#include "traces/import/dbench_loadfile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_importer(filereel::dbench_importer(),
                std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
