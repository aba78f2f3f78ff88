// Compares what a trace wrote with the content of the real file.
#pragma once

#include <cstdint>
#include <string>

#include "traces/check/content_samples.h"

namespace filereel {

struct ContentDifference {
  std::string text;          // for a message; empty: none
  std::uint64_t writes = 0;  // compared
};

// Of a regular file in the directory. Nothing is compared if it cannot be read.
ContentDifference content_difference(int directory, const std::string& name,
                                     const ContentSamples::OfFile& samples);

}  // namespace filereel
