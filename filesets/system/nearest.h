// Suggestions for unknown names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// Returns at most three names that are most similar to the wrong one, nearest first. Leaves out
// names with little in common.
std::vector<std::string_view> nearest_names(std::string_view wrong,
                                            std::span<const std::string_view> names);

// "; did you mean 'app-compile' or 'app-music'?", or "" if no name is near. For the end of a
// message.
std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> names);

// ": use fio, jsonl, chrome; did you mean 'jsonl'?". For the end of a message.
std::string use_one_of(std::string_view wrong, std::span<const std::string_view> names);

// The names of a container of named items.
template <class Things>
std::vector<std::string_view> names_of_all(const Things& things) {
  std::vector<std::string_view> names;
  for (const auto& one : things) names.push_back(one.name);
  return names;
}

}  // namespace filereel
