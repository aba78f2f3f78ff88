// Whether groups of results did the same work under one name: by the digests of its content
// (Measurement::work_digest), and in words (WorkRecord).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/compare/properties.h"

namespace filereel {

// "recipe of mixed.yaml", "trace app", "file set programs".
std::string work_name(JobKind kind, const std::string& job, const std::string& set);

// "data: 50 files of 16 KiB", for each the lines that the other lacks; both "" if they have the
// same.
struct ChangedLines {
  std::string before, after;
};
ChangedLines changed_lines(const WorkRecord& before, const WorkRecord& after);

// The work that differs although its name, point and scale are the same.
std::vector<ComparedProperty> work_properties(std::span<const std::span<const Result>> groups);

// Work that is unknown in some of the results, and work that is the same under several names.
std::vector<Warning> work_warnings(std::span<const std::span<const Result>> groups);

}  // namespace filereel
