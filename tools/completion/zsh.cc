#include <fmt/format.h>

#include "tools/completion/completion.h"

namespace filereel {
namespace {

// `text` inside a specification of _arguments, where some characters mean something.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action_of(const CompletedValue& value) {
  const std::string words = joined(value.words);
  switch (value.kind) {
    case ValueKind::other:
      return " ";
    case ValueKind::words:
      return value.list ? "_sequence compadd - " + words : "(" + words + ")";
    case ValueKind::files:
      if (value.words.empty()) return "_files";
      return (value.list ? "_filereel_list_or_file " : "_filereel_word_or_file ") + words;
    case ValueKind::directories:
      return "_files -/";
    case ValueKind::volumes:
      return "_filereel_volume";
    case ValueKind::program:
      return "_normal";
  }
  return " ";
}

std::string argument_name(const CompletedOption& option) {
  const std::string& name = option.names.back();
  return name.substr(name.find_first_not_of('-'));
}

std::string specifications(const CompletedOption& option) {
  std::string text;
  for (const std::string& name : option.names) {
    std::string one = name;
    const bool is_long = name.starts_with("--");
    if (option.value) one += is_long ? "=" : "+";
    one += fmt::format("[{}]", escaped(option.description));
    if (option.value)
      one += fmt::format(":{}:{}", argument_name(option), zsh_action_of(*option.value));
    text += fmt::format(" \\\n    {}", single_quoted("*" + one));
  }
  return text;
}

// One function for each command; those of the commands below come first.
void add_function(const CompletedCommand& command, const std::string& function, std::string& text) {
  for (const CompletedCommand& one : command.commands) {
    add_function(one, function + "_" + one.name, text);
  }
  text += fmt::format("\n{}() {{\n", function);
  const bool has_commands = !command.commands.empty();
  if (has_commands) {
    text += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n";
  }
  text += fmt::format("  _arguments {}-s -S :", has_commands ? "-C " : "");
  for (const CompletedOption& option : command.options) text += specifications(option);
  std::size_t position = 0;
  for (const CompletedPositional& one : command.positionals) {
    // "*::" lets _normal see only the program's words.
    const bool program = one.value.kind == ValueKind::program;
    const std::string where = one.repeats ? (program ? "*:" : "*") : fmt::format("{}", ++position);
    text += fmt::format(" \\\n    {}", single_quoted(fmt::format("{}:{}:{}", where, one.name,
                                                                 zsh_action_of(one.value))));
  }
  if (has_commands) {
    text += fmt::format(" \\\n    '{}:command:->command' \\\n    '*:::argument:->arguments'\n",
                        position + 1);
    text += "  case $state in\n  command)\n    local -a commands=(\n";
    for (const CompletedCommand& one : command.commands) {
      text += fmt::format("      {}\n", single_quoted(one.name + ":" + escaped(one.description)));
    }
    text += "    )\n    _describe command commands ;;\n  arguments)\n";
    text += fmt::format(
        "    words=(\"$line[{}]\" \"${{(@)words}}\")\n    (( ++CURRENT ))\n    case $line[{}] in\n",
        position + 1, position + 1);
    for (const CompletedCommand& one : command.commands) {
      text += fmt::format("    {}) {}_{} ;;\n", one.name, function, one.name);
    }
    text += "    esac ;;\n  esac\n";
  } else {
    text += "\n";
  }
  text += "}\n";
}

constexpr std::string_view kHelpers = R"sh(
_filereel_word_or_file() { compadd -- "$@"; _files }

_filereel_list_or_file() { _sequence compadd - "$@"; [[ $PREFIX == *,* ]] || _files }

_filereel_volume() {
  if compset -P image:; then _files; else compadd -S '' -- image:; _files; fi
}
)sh";

}  // namespace

std::string zsh_completion(const CompletedCommand& root) {
  std::string text =
      "#compdef filereel\n# Completion of filereel for zsh, made by `filereel completion zsh`.\n";
  text += kHelpers;
  add_function(root, "_filereel", text);
  return text + "\n_filereel \"$@\"\n";
}

}  // namespace filereel
