// Tables for people.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/runner/result.h"

namespace filereel {

// Rows of cells in aligned columns, the first to the left, the others to the right. The first row
// is the heading. Widths count characters, not bytes.
std::string format_columns(const std::vector<std::vector<std::string>>& rows);

// "12 operations", "1 operation".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

// What a storage reviewer would publish: per file system the sets × operations in MB/s and files/s,
// median and extremes, and under them what there is to know. `bold` marks headings.
std::string format_result(const Result& result,
                          const std::function<std::string(std::string)>& bold);

}  // namespace filereel
