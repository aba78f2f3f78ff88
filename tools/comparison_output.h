// What all commands that compare results have: options, and where the comparison goes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/compare/index.h"
#include "tools/session.h"

namespace CLI {
class App;
}

namespace filereel {

struct ComparisonOutput {
  std::string threshold = "2%";
  std::string stall;        // a time, or "" for what the base makes of it
  bool strict = false;      // what cannot be told has an exit code of its own
  std::string json, junit;  // files, or "-"
};

// `output` outlives the parsing.
void add_comparison_options(CLI::App& command, ComparisonOutput& output);

// To be called before anything is read. Throws Error for what cannot be.
void check_output(const ComparisonOutput& output);

// The options say what matters and what a stall is.
CompareOptions compare_options(const ComparisonOutput& output);

// Throws Error(unusable_input) where nothing was compared: what each side has, and what to do.
void require_common(const ResultComparison& comparison, std::span<const Result> base,
                    std::span<const Result> fresh);

// Makes the indexes that are shown below a comparison.
using IndexMaker = std::function<std::vector<Index>(const ResultComparison&)>;

// Compares, prints or writes it, and sets the exit code. Neither group may be empty; `output` was
// checked. Throws Error(unusable_input) where the two have nothing in common.
void show_comparison(std::span<const Result> base, std::span<const Result> fresh,
                     const ComparisonOutput& output, Session& session,
                     const IndexMaker& indexes = {});

// "5 measurements on ext4, xfs (fc-test programs create ext4 …)": what an Error says of results.
std::string contents_text(std::span<const Result> results);

}  // namespace filereel
