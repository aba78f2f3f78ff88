// Suggestions for names that are not known.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// Of the names those that look most like the wrong one, the nearest first, at most three; names
// that have little in common with it are left out.
std::vector<std::string_view> nearest_names(std::string_view wrong,
                                            std::span<const std::string_view> names);

// "; did you mean app-compile or app-music?", "" if nothing is near. For the end of a message.
std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> names);

// ": use fio, jsonl, chrome; did you mean jsonl?". For the end of a message, too.
std::string use_one_of(std::string_view wrong, std::span<const std::string_view> names);

// The same for things that have names.
template <class Things>
std::vector<std::string_view> names_of_all(const Things& things) {
  std::vector<std::string_view> names;
  for (const auto& one : things) names.push_back(one.name);
  return names;
}

}  // namespace filereel
