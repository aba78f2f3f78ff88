// Limits for results. Programs that read results use nested loops and tables. Without limits, a
// small file could take years or more memory than there is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Limits for the JSON text of a result. The values of a text of this length take 1 GiB of memory.
inline constexpr std::size_t kMostResultBytes = 256'000'000;
inline constexpr std::size_t kMostResultValues = 10'000'000;
inline constexpr std::size_t kDeepestResult = 64;  // nesting of arrays and objects

inline constexpr std::size_t kMostJobs = 1000;  // per plan

// Limits for a sample's times, in seconds; 0 means none. filereel's clock counts nanoseconds and
// lasts 584 years; results of other programs may have means of several.
inline constexpr double kLeastTime = 1e-12, kMostTime = 1e12;
// Limits for all other non-integers: calculations with them stay in the range of doubles.
inline constexpr double kLeastFigure = 1e-30, kMostFigure = 1e30;

// The first exceeded limit of the JSON text, such as "nested more than 64 levels deep"; "" if there
// is none. Looks only at brackets and commas, even if the text is not JSON.
std::string exceeded_json_limit(std::string_view text);

// The first exceeded limit of the result's lists, names and times; "" if there is none.
std::string exceeded_limit(const Result& result);

}  // namespace filereel
