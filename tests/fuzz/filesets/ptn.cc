// FC-Test patterns: whatever the bytes are, the only exception is Error and nothing grows without
// bound.
#include <cstdint>
#include <string_view>

#include "filesets/formats/fc_test_files.h"
#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(ptn) {
  try {
    // Counts have their own limit in the reader; small scales keep the runs short.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    filereel::parse_ptn(text, "input", 1e-5);
    filereel::parse_ptn(text, "input", 1e-9);
  } catch (const filereel::Error&) {
  }
}
