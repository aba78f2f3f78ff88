// fio's iologs (fuzz_importer.h).
#include <cstdint>
#include <string_view>

#include "fuzz_importer.h"
#include "traces/import/fio_iolog.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_importer(filereel::fio_importer(),
                std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
