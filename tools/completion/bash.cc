#include <fmt/format.h>

#include "tools/completion/completion.h"

namespace filereel {
namespace {

// What does the work; the cases above it are made from the command line. Readline splits words also
// at "=" and ":", so they are put together again first, and what is offered loses what stands
// before the last of these.
constexpr std::string_view kBashFunctions = R"sh(
_filereel_offer() {  # what compgen takes
  local one
  while IFS= read -r one; do COMPREPLY+=("$one"); done < <(compgen "$@" -- "$_filereel_current")
}

_filereel_files() {  # -f or -d
  compopt -o filenames 2>/dev/null
  _filereel_offer "$1"
}

# Behind the last comma.
_filereel_list() {  # words, separated by blanks
  local before=${_filereel_current%"${_filereel_current##*,}"} one
  for one in $1; do
    [[ ,$before == *",$one,"* ]] && continue
    [[ $before$one == "$_filereel_current"* ]] && COMPREPLY+=("$before$one")
  done
  compopt -o nospace 2>/dev/null
}

_filereel_volume() {
  if [[ $_filereel_current == image:* ]]; then
    _filereel_current=${_filereel_current#image:}
    _filereel_files -f
    COMPREPLY=("${COMPREPLY[@]/#/image:}")
  else
    _filereel_files -f
    _filereel_offer -W 'image:'
    [[ ${COMPREPLY[*]} == image: ]] && compopt -o nospace 2>/dev/null
  fi
}

_filereel() {
  local words=() word whole=1 i
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((${#words[@]} > 1)) && { [[ $word == [=:]* ]] || ((!whole)); }; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    whole=1
    [[ $word == *[=:] ]] && whole=0
  done
  local _filereel_current=${words[-1]} path='' wants='' position=0 ended=0
  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ -n $wants ]]; then
      wants=
    elif ((ended)); then
      ((++position))
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      case " $(_filereel_valued "$path") " in *" $word "*) wants=$word ;; esac
    else
      case " $(_filereel_commands "$path") " in
        *" $word "*) path=${path:+$path }$word position=0 ;;
        *) ((++position)) ;;
      esac
    fi
  done
  COMPREPLY=()
  local before=''
  if [[ -n $wants ]]; then
    _filereel_value "$path" "$wants"
  elif ((!ended)) && [[ $_filereel_current == --*=* ]]; then
    before=${_filereel_current%%=*}=
    _filereel_current=${_filereel_current#*=}
    _filereel_value "$path" "${before%=}"
  elif ((!ended)) && [[ $_filereel_current == -* ]]; then
    _filereel_offer -W "$(_filereel_options "$path")"
  elif ! _filereel_value "$path" "$position"; then
    _filereel_offer -W "$(_filereel_commands "$path")"
  fi
  # Readline has the part before the last "=" or ":" already.
  local typed=${words[-1]}
  local known=${typed%"${typed##*[=:]}"}
  for i in "${!COMPREPLY[@]}"; do
    word=$before${COMPREPLY[i]}
    COMPREPLY[i]=${word#"$known"}
  done
}

complete -F _filereel filereel
)sh";

std::string bash_action_of(const CompletedValue& value) {
  std::string offer =
      (value.list ? "_filereel_list " : "_filereel_offer -W ") + single_quoted(joined(value.words));
  switch (value.kind) {
    case ValueKind::other:
      return "true";
    case ValueKind::words:
      return offer;
    case ValueKind::files:
      return (value.words.empty() ? "" : offer + "; ") + "_filereel_files -f";
    case ValueKind::directories:
      return "_filereel_files -d";
    case ValueKind::volumes:
      return "_filereel_volume";
    case ValueKind::program:
      return "if (($2 == 0)); then _filereel_offer -c; else _filereel_files -f; fi";
  }
  return "true";
}

struct Cases {
  std::string commands, options, valued, values;
};

void add_cases(const CompletedCommand& command, const std::string& path, Cases& cases) {
  std::vector<std::string> names, valued, commands;
  const auto add_value = [&](const std::string& what, const CompletedValue& value) {
    cases.values += fmt::format("    '{}:'{}) {} ;;\n", path, what, bash_action_of(value));
  };
  for (const CompletedOption& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (!option.value) continue;
    valued.insert(valued.end(), option.names.begin(), option.names.end());
    for (const std::string& name : option.names) add_value(name, *option.value);
  }
  std::size_t position = 0;
  for (const CompletedPositional& one : command.positionals) {
    add_value(one.repeats ? "[0-9]*" : fmt::format("{}", position), one.value);
    ++position;
  }
  for (const CompletedCommand& one : command.commands) {
    commands.push_back(one.name);
    add_cases(one, path.empty() ? one.name : path + " " + one.name, cases);
  }
  const auto echo = [&](std::string& text, const std::vector<std::string>& words) {
    if (!words.empty())
      text += fmt::format("    '{}') echo {} ;;\n", path, single_quoted(joined(words)));
  };
  echo(cases.commands, commands);
  echo(cases.options, names);
  echo(cases.valued, valued);
}

std::string function(std::string_view name, std::string_view subject, const std::string& cases,
                     std::string_view otherwise) {
  return fmt::format("\n{}() {{\n  case {} in\n{}    *) {} ;;\n  esac\n}}\n", name, subject, cases,
                     otherwise);
}

}  // namespace

std::string bash_completion(const CompletedCommand& root) {
  Cases cases;
  add_cases(root, "", cases);
  return "# Completion of filereel for bash, made by `filereel completion bash`.\n" +
         function("_filereel_commands", "$1", cases.commands, "true") +
         function("_filereel_options", "$1", cases.options, "true") +
         function("_filereel_valued", "$1", cases.valued, "true") +
         "\n# The values of an option, or of the argument at a position; fails if there are none." +
         function("_filereel_value", "$1:$2", cases.values, "false") + std::string(kBashFunctions);
}

}  // namespace filereel
