// FC-Test lists: whatever the bytes are, the only exception is Error and nothing grows without
// bound.
#include <cstdint>
#include <string_view>

#include "filesets/formats/fc_test_files.h"
#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(fls) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    filereel::parse_fls(text, "input");
    filereel::parse_fls(text, "input", 0.3);
  } catch (const filereel::Error&) {
  }
}
