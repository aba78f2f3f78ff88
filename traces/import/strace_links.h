// Finds the symbolic links whose reading strace's output shows.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "traces/import/importer.h"

namespace filereel {

inline constexpr std::uint64_t kLinesBetweenStops = 4096;  // interval of checks for a stop

struct StraceLink {
  std::string path;  // absolute
  std::string text;
};

// Links read by a complete path, in the order of the lines, except links that the trace creates or
// renames, or may do so. Programs often use a link first and read it later.
std::vector<StraceLink> find_strace_links(LineReader& input, const std::stop_token& stop);

}  // namespace filereel
