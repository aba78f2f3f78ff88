// What a result may hold at the most. Whoever reads one goes through it in loops within loops and
// makes tables of it, so that a small file could ask for years or for more memory than there is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Of the JSON text of a result. The values of a text that long take 1 GiB of memory.
inline constexpr std::size_t kMostResultBytes = 256'000'000;
inline constexpr std::size_t kMostResultValues = 10'000'000;
inline constexpr std::size_t kDeepestResult = 64;  // arrays and objects within each other

inline constexpr std::size_t kMostJobs = 1000;  // of a plan

// Of a sample's times, in seconds; 0 stands for none. filereel's clock counts nanoseconds, and 584
// years of them; results that other programs made may have means of several.
inline constexpr double kLeastTime = 1e-12, kMostTime = 1e12;
// Of all other numbers that are no whole ones: what is made of them stays in the range of doubles.
inline constexpr double kLeastFigure = 1e-30, kMostFigure = 1e30;

// What is beyond a limit of JSON text, as "nested more than 64 levels deep"; "" for nothing. Looks
// at brackets and commas alone, whether or not the text is JSON.
std::string excess_of_json(std::string_view text);

// What is beyond a limit of the result's lists, names and times; "" for nothing.
std::string excess_of(const Result& result);

}  // namespace filereel
