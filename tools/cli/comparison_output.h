// Common options and output of all commands that compare results.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/compare/index.h"
#include "tools/cli/session.h"

namespace CLI {
class App;
}

namespace filereel {

struct ComparisonOutput {
  std::string threshold = "2%";
  std::string stall;        // a time, or "" to derive it from the base
  bool strict = false;      // use a separate exit code if something is undecided
  bool all = false;         // list every measurement
  std::string json, junit;  // files, or "-"
};

// `output` must outlive parsing.
void add_comparison_options(CLI::App& command, ComparisonOutput& output);

// Checks the options before any file is read. Throws Error.
void check_output(const ComparisonOutput& output);

// Parses the threshold and the definition of a stall.
CompareOptions compare_options(const ComparisonOutput& output);

// Throws Error(unusable_input) if nothing can be compared: no measurement is on both sides, or none
// with the same work. The text says what each side has, or why, and what to do.
void require_common(const ResultComparison& comparison, std::span<const Result> base,
                    std::span<const Result> fresh);

// What the results of volumes that were measured in turns say: two are compared, more are ranked.
// Throws Error as require_common if `required`.
struct TurnsComparison {
  std::string text;
  bool regressed = false;  // of two volumes, the second one; a ranking says nothing
};
TurnsComparison compare_in_turns(std::span<const std::span<const Result>> sides, bool required,
                                 const Session& session, int descriptor);

// Creates the indexes printed below a comparison.
using IndexMaker = std::function<std::vector<Index>(const ResultComparison&)>;

// Compares, prints or writes the comparison, and sets the exit code. Neither group may be empty.
// `earlier`: see compare_results.
// Call check_output() first. Throws Error(unusable_input) if the two have nothing in common.
void show_comparison(std::span<const Result> base, std::span<const Result> fresh,
                     const ComparisonOutput& output, Session& session,
                     std::span<const std::vector<Result>> earlier = {},
                     const IndexMaker& indexes = {});

// "5 measurements on ext4, xfs (fc-test programs create ext4 …)", for error messages.
std::string contents_text(std::span<const Result> results);

}  // namespace filereel
