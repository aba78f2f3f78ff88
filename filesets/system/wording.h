// Numbers with words that agree with them, and suggestions for misspelled names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// --- Numbers with the words that agree with them. Texts for people use these, so that none says
// "1 files" or "1 result differ"; tests/house_test.py looks for those that do not.

// The word for one, or that for another number.
std::string_view agreeing(std::uint64_t count, std::string_view one, std::string_view many);

// "1 entry", "12 entries"; "1 result differs", "2 results differ".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

// The same for a noun whose plural ends in an added s: "1 byte", "12 bytes".
std::string counted(std::uint64_t count, std::string_view noun);

// "1 of 3 results", "1 of 1 result".
std::string counted_of(std::uint64_t count, std::uint64_t all, std::string_view noun);

// --- Suggestions for unknown names.

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
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

// Whether a message says which of several it is about: "mp3: …", "'mp3' …", "the files of mp3: …".
bool is_about(std::string_view text, std::string_view name);

}  // namespace filereel
