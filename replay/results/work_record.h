// What a job does, in words, for pages and comparisons. Plain data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace filereel {

struct WorkRecord {
  static constexpr std::size_t kMostLines = 60, kMostBytes = 4096;  // of `does`

  std::string job;               // JobRecord::name
  std::string set = {};          // of FC-Test
  std::string file = {};         // that defines it, without folders; "": from the catalogue
  std::string description = {};  // by its author
  // Files, phases and threads, a line each, at the first point of a sweep. Longer texts are cut.
  std::vector<std::string> does = {};

  // Adds lines up to the limits, and says how many are left out.
  void add(const std::vector<std::string>& lines);

  bool operator==(const WorkRecord&) const = default;
};

}  // namespace filereel
