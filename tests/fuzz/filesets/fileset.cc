// Captured file sets: whatever the bytes are, the only exception is Error and nothing grows without
// bound.
#include <cstdint>
#include <span>

#include "filesets/formats/fileset_file.h"
#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(fileset) {
  try {
    filereel::parse_fileset(std::as_bytes(std::span(data, size)), "input");
  } catch (const filereel::Error&) {
  }
}
