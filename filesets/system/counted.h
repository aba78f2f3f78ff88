// Numbers with the words that agree with them. Texts for people use these, so that none says
// "1 files" or "1 result differ"; tests/house_test.py looks for those that do not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace filereel {

// The word for one, or that for another number.
std::string_view agreeing(std::uint64_t count, std::string_view one, std::string_view many);

// "1 entry", "12 entries"; "1 result differs", "2 results differ".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

// The same for a noun whose plural ends in an added s: "1 byte", "12 bytes".
std::string counted(std::uint64_t count, std::string_view noun);

// "1 of 3 results", "1 of 1 result".
std::string counted_of(std::uint64_t count, std::uint64_t all, std::string_view noun);

}  // namespace filereel
