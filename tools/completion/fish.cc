#include <fmt/format.h>

#include "tools/completion/completion.h"

namespace filereel {
namespace {

// The command that the words before the cursor lead to, and whether it is the given one.
constexpr std::string_view kFishFunctions = R"sh(
function __filereel_in
    set -l path
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $word" $__filereel_paths
            set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end

function __filereel_words
    printf '%s\n' $argv
end
)sh";

// In fish's single quotes a backslash escapes itself and the quote.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// Whether files may stand there, and what else.
std::string fish_action_of(const CompletedValue& value) {
  const std::string words = joined(value.words);
  const std::string offered =
      value.list ? fish_quoted("(__fish_complete_list , '__filereel_words " + words + "')")
                 : fish_quoted(words);
  switch (value.kind) {
    case ValueKind::other:
      return "-f";
    case ValueKind::words:
      return "-f -a " + offered;
    case ValueKind::files:
      return value.words.empty() ? "-F" : "-F -a " + offered;
    case ValueKind::directories:
      return "-f -a '(__fish_complete_directories)'";
    case ValueKind::volumes:
      return "-F -a image:";
    case ValueKind::program:
      return "-f -a '(__fish_complete_subcommand)'";
  }
  return "-f";
}

void add_command(const CompletedCommand& command, const std::string& path, std::string& paths,
                 std::string& text) {
  const std::string begin =
      fmt::format("complete -c filereel -n {}", fish_quoted("__filereel_in " + fish_quoted(path)));
  for (const CompletedOption& option : command.options) {
    std::string line = begin;
    for (const std::string& name : option.names) {
      line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.value) line += " -r " + fish_action_of(*option.value);
    text += fmt::format("{} -d {}\n", line, fish_quoted(option.description));
  }
  for (const CompletedPositional& one : command.positionals) {
    text += fmt::format("{} {} -d {}\n", begin, fish_action_of(one.value),
                        fish_quoted(one.description));
  }
  for (const CompletedCommand& one : command.commands) {
    text += fmt::format("{} -f -a {} -d {}\n", begin, one.name, fish_quoted(one.description));
    const std::string below = path + " " + one.name;
    paths += " " + fish_quoted(below);
    add_command(one, below, paths, text);
  }
}

}  // namespace

std::string fish_completion(const CompletedCommand& root) {
  std::string paths, text;
  add_command(root, "", paths, text);
  return "# Completion of filereel for fish, made by `filereel completion fish`.\n"
         "complete -c filereel -f\nset -g __filereel_paths" +
         paths + "\n" + std::string(kFishFunctions) + "\n" + text;
}

}  // namespace filereel
