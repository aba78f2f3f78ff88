// The symbolic links that strace's text shows being read.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "traces/import/importer.h"

namespace filereel {

inline constexpr std::uint64_t kLinesBetweenStops = 4096;  // so often a stop is looked for

struct StraceLink {
  std::string path;  // absolute
  std::string text;
};

// Those that are read by a path that is known from the root on, in the order of the lines, without
// those that the trace makes or renames, or may do. Programs often use a link first and read it
// later.
std::vector<StraceLink> find_strace_links(LineReader& input, const std::stop_token& stop);

}  // namespace filereel
