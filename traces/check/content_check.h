// Compares what a trace wrote with the content of the real file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "traces/check/content_samples.h"

namespace filereel {

struct ContentDifference {
  std::string text;          // for a message; empty: none
  std::uint64_t writes = 0;  // compared
  bool complete = true;      // false: not all were compared (time, permission, read error)
};

// Of a regular file in the directory, until `is_late`.
ContentDifference content_difference(int directory, const std::string& name,
                                     const ContentSamples::OfFile& samples,
                                     const std::function<bool()>& is_late);

}  // namespace filereel
