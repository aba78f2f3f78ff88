#include "filesets/system/wording.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace filereel {

std::string_view agreeing(std::uint64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, agreeing(count, one, many));
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, agreeing(count, "", "s"));
}

std::string counted_of(std::uint64_t count, std::uint64_t all, std::string_view noun) {
  return fmt::format("{} of {}", count, counted(all, noun));
}

namespace {

constexpr std::size_t kMost = 3;
constexpr std::size_t kLongest = 64;  // characters compared

// Damerau-Levenshtein distance without overlaps: insertions, deletions, replacements and swaps of
// neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view wrong,
                                            std::span<const std::string_view> names) {
  wrong = wrong.substr(0, kLongest);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view name : names) {
    // A substring of a name is near, however much is missing.
    const bool part = wrong.size() > 2 && name.find(wrong) != std::string_view::npos;
    const std::size_t far = part ? 1 : distance(wrong, name.substr(0, kLongest));
    if (far <= 1 + std::max(wrong.size(), name.size()) / 4) found.emplace_back(far, name);
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::size_t, std::string_view>::first);
  found.resize(std::min(found.size(), kMost));
  std::vector<std::string_view> nearest;
  for (const auto& [far, name] : found) nearest.push_back(name);
  return nearest;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> names) {
  const std::vector<std::string_view> near = nearest_names(wrong, names);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", fmt::join(near, "' or '"));
}

std::string use_one_of(std::string_view wrong, std::span<const std::string_view> names) {
  return fmt::format(": use {}{}", fmt::join(names, ", "), did_you_mean(wrong, names));
}

bool is_about(std::string_view text, std::string_view name) {
  return text.starts_with(fmt::format("{} ", name)) || text.starts_with(fmt::format("{}:", name)) ||
         text.contains(fmt::format("'{}'", name)) || text.contains(fmt::format(" {}:", name));
}

}  // namespace filereel
