// Plans: whatever the bytes are, the only exception is Error and nothing grows without bound.
#include <cstdint>
#include <string_view>

#include "filesets/error.h"
#include "replay/runner/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    filereel::plan_from_yaml({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const filereel::Error&) {
  }
  return 0;
}
