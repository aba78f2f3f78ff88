// Reels: whatever the bytes are, the only exception is Error and nothing grows without bound.
#include <cstdint>
#include <span>
#include <vector>

#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"
#include "traces/reel/reel_reader.h"

FUZZ_TARGET(reel) {
  try {
    filereel::ReelReader reader(std::as_bytes(std::span(data, size)), "input");
    std::vector<filereel::RecordedOperation> some(100);
    while (reader.next(some) > 0) continue;
  } catch (const filereel::Error&) {
  }
}
