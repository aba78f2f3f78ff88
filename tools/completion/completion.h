// What a shell needs to complete filereel's command line: plain data, made from the command line
// itself, so that no option is forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace filereel {

enum class ValueKind : std::uint8_t {
  other,  // numbers, times, free text: nothing to offer
  words,  // one of some words
  files,  // also where words are, for names of the catalogue or files
  directories,
  volumes,  // a directory, a device, or image:FILE
  program,  // a program, then its arguments
};

struct CompletedValue {
  ValueKind kind = ValueKind::other;
  std::vector<std::string> words = {};
  bool list = false;  // several with commas between
};

struct CompletedOption {
  std::vector<std::string> names;  // "-o", "--output"
  std::string description;
  std::optional<CompletedValue> value;  // nothing for flags
};

struct CompletedPositional {
  std::string name, description;
  CompletedValue value;
  bool repeats = false;  // takes all arguments that follow
};

struct CompletedCommand {
  std::string name, description;
  std::vector<CompletedOption> options;  // with those that all commands take
  std::vector<CompletedPositional> positionals;
  std::vector<CompletedCommand> commands;  // behind the positionals
};

// What is not shown in the help is not completed.
CompletedCommand completed_command(const CLI::App& app);

// What may stand for an option ("--near") or a positional argument ("PLAN") of a command ("run",
// "history add"). Nothing for what nobody has thought of.
std::optional<CompletedValue> value_of(std::string_view command, std::string_view argument);

// Scripts for the shells, whole files.
std::string bash_completion(const CompletedCommand& root);
std::string zsh_completion(const CompletedCommand& root);
std::string fish_completion(const CompletedCommand& root);

// With blanks between.
std::string joined(const std::vector<std::string>& words);

// `text` as one word of a shell, in single quotes.
std::string single_quoted(std::string_view text);

}  // namespace filereel
