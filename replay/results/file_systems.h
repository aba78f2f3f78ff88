// The file systems of a result. On directories they are what the kernel calls them: "tmpfs".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// Those that there are samples of, in the order of measuring.
std::vector<std::string> file_systems_of(const Result& result);
// The same of several results, each once.
std::vector<std::string> file_systems_of(std::span<const Result> results);

// What was measured on one file system, with its volumes. Far volumes with another file system stay
// where there is none with this one.
Result only_on(const Result& result, const std::string& file_system);

}  // namespace filereel
