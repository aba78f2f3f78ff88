// The bytes of files that a sample read and wrote.
#pragma once

#include <cstdint>

#include "replay/results/result.h"

namespace filereel {

// By the calls. A copy inside the kernel reads and writes its content; so does one of reads and
// writes.
struct BytesMoved {
  std::uint64_t read = 0, written = 0;

  bool operator==(const BytesMoved&) const = default;
};

// Nothing for a sample without calls of its own, such as a copy command.
BytesMoved bytes_moved(const Sample& sample);

}  // namespace filereel
