// Completion of the command line in shells.
//
// `filereel completion SHELL` prints a stub: a short script that asks `filereel __complete --
// WORDS…` at every Tab. complete_words() answers from the definition of the command line itself, so
// that no option is forgotten; only the values of options and arguments have a table (values.cc).
//
// The answer is one line per candidate for the whole last word, with a description after a tab. The
// lines that begin with a colon say what the shell itself does; TEXT follows a tab:
//
//   :nospace           no space after a candidate: it can be continued
//   :files TEXT        complete file names; TEXT is the part of the word before the name
//   :directories TEXT  the same with directories only
//   :command N         complete the command line of another program, which begins at word N (from
//   0)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace filereel {

struct Candidate {
  std::string text, description = {};
};

enum class ValueKind : std::uint8_t {
  words,  // one of the candidates, if there are any
  files,  // one of the candidates, or a file
  directories,
  volumes,  // a directory, a block device, or image:FILE
  command,  // a program, then its arguments
};

// The values of options and positional arguments.
struct ValueRule {
  std::string_view arguments;  // separated by blanks: "--near VOLUME"
  std::string_view value;      // name of the value in the help: "VOLUME"
  ValueKind kind;
  std::string_view words = {};                  // candidates, with blanks between
  std::vector<Candidate> (*names)() = nullptr;  // further ones
  std::string_view command = {};                // "history trend"; empty: all other commands
};

// Null where the table has no line.
const ValueRule* find_value_rule(std::string_view command, std::string_view argument);

std::vector<Candidate> candidates_of(const ValueRule& rule);

// The answer for the words after "filereel", the last of which is being typed. Empty for words that
// are no command line, and without words.
std::string complete_words(const CLI::App& app, std::span<const std::string> words);

// Empty for a shell without one.
std::string completion_stub(std::string_view shell);

}  // namespace filereel
