// What all commands that compare results have: options, and where the comparison goes.
#pragma once

#include <span>
#include <string>

#include "replay/results/result.h"
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

// Compares, prints or writes it, and sets the exit code. Neither group may be empty; `output` was
// checked.
void show_comparison(std::span<const Result> base, std::span<const Result> fresh,
                     const ComparisonOutput& output, Session& session);

}  // namespace filereel
