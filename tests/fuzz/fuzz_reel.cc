// Reels: whatever the bytes are, the only exception is Error and nothing grows without bound.
#include <cstdint>
#include <span>
#include <vector>

#include "filesets/error.h"
#include "traces/reel/reel_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    filereel::ReelReader reader(std::as_bytes(std::span(data, size)), "input");
    std::vector<filereel::RecordedOperation> some(100);
    while (reader.next(some) > 0) continue;
  } catch (const filereel::Error&) {
  }
  return 0;
}
