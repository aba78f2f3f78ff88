// Specifications of file sets: whatever the bytes are, the only exception is Error and nothing
// grows without bound.
#include "filesets/specification/specification.h"

#include <cstdint>
#include <string_view>

#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(specification) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const filereel::SpecificationLimits small{
        .max_groups = 50, .max_count = 100'000'000, .max_entries = 2'000};
    filereel::file_set_from_yaml(text, "input", 1.0, small);
    filereel::file_set_from_yaml(text, "input", 0.01, small);
  } catch (const filereel::Error&) {
  }
}
