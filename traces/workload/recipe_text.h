// A recipe in plain words, for `filereel show`, results and comparisons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/workload/recipe.h"

namespace filereel {

// A line for each group: "data: 50 files of 16 KiB".
std::vector<std::string> file_lines(const Recipe& recipe);
// A line for each phase, and one, indented, for each of its groups of threads.
std::vector<std::string> phase_lines(const Recipe& recipe);
// Files and phases, or the database server; nothing for a recorded trace.
std::vector<std::string> recipe_lines(const Recipe& recipe);

// The values of recipes, as in workload files.
std::string_view sync_word(SyncKind kind);
std::string_view order_word(FileOrder order);
std::string_view engine_word(RequestEngine engine);
std::string hot_words(const HotSpots& hot);
std::vector<std::string> volume_names(const std::vector<Role>& volumes);

// Of thousandths of a percent, from 0 to 1.
constexpr double as_share(std::uint32_t thousandths) {
  return thousandths / 100'000.0;
}

}  // namespace filereel
