// How this folder works: completion.cc answers a Tab from the definition of the command line, and
// has the scripts of the shells; values.cc is the table of values. Start with complete_words()
// below.
//
// Completion of the command line in shells.
//
// `filereel completion SHELL` prints a stub: a short script that calls `filereel __complete --
// WORDS…` on every Tab. complete_words() answers from the definition of the command line itself, so
// no option is missing. The values of job parameters come from their rows
// (replay/jobs/job_options.h), those of other options and arguments from the table in values.cc.
//
// The answer has one line per candidate for the whole last word, with a description after a tab.
// Lines starting with a colon are directives to the shell; TEXT follows a tab:
//
//   :nospace           add no space after a candidate
//   :files TEXT        complete file names; TEXT is the part of the word before the name
//   :directories TEXT  the same with directories only
//   :command N         complete the command line of another program, starting at word N (from 0)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/jobs/job_options.h"

namespace CLI {
class App;
}

namespace filereel {

enum class ValueKind : std::uint8_t {
  words,  // one of the candidates, if any
  files,  // one of the candidates, or a file
  directories,
  volumes,  // a directory, a block device, or image:FILE
  command,  // a program, then its arguments
};

// The values of options and positional arguments.
struct ValueRule {
  std::string_view arguments;  // separated by spaces: "--near VOLUME"
  std::string_view value;      // name of the value in the help: "VOLUME"
  ValueKind kind;
  std::string_view words = {};                  // candidates, separated by spaces
  std::vector<Candidate> (*names)() = nullptr;  // more candidates
  std::string_view command = {};                // "history trend"; empty: all other commands
};

// Null if there is no rule.
const ValueRule* find_value_rule(std::string_view command, std::string_view argument);

std::vector<Candidate> candidates_of(const ValueRule& rule);

// The answer for the words after "filereel"; the last one is being typed. Empty without words, or
// if they are not a valid command line.
std::string complete_words(const CLI::App& app, std::span<const std::string> words);

std::vector<std::string_view> completion_shells();
// Empty for an unsupported shell.
std::string completion_stub(std::string_view name);

}  // namespace filereel
