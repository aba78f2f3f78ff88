// Captured file sets: whatever the bytes are, the only exception is Error and nothing grows without
// bound.
#include <cstdint>
#include <span>

#include "filesets/error.h"
#include "filesets/formats/fileset_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    filereel::parse_fileset(std::as_bytes(std::span(data, size)), "input");
  } catch (const filereel::Error&) {
  }
  return 0;
}
