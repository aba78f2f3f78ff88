#include "tools/cli/completion/completion.h"

#include <algorithm>
#include <array>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "filesets/system/search.h"

namespace filereel {
namespace {

using Options = std::vector<const CLI::Option*>;

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// The options of a command and of its parents, except the parents' --help and --version.
Options options_of(const CLI::App& command) {
  Options options;
  for (const CLI::App* owner = &command; owner != nullptr; owner = owner->get_parent()) {
    for (const CLI::Option* option : owner->get_options()) {
      const bool own = option == owner->get_help_ptr() || option == owner->get_version_ptr();
      if (option->get_group().empty() || option->get_positional()) continue;
      if (owner == &command || !own) options.push_back(option);
    }
  }
  return options;
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  const Options options = options_of(command);
  const auto found =
      std::ranges::find_if(options, [&](const auto* one) { return one->check_name(name); });
  return found == options.end() ? nullptr : *found;
}

Options arguments_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto commands = commands_of(app);
  const auto found = std::ranges::find(commands, name, [](auto* one) { return one->get_name(); });
  return found == commands.end() ? nullptr : *found;
}

// Parser state after the complete words of a command line.
struct CommandPlace {
  const CLI::App* command;
  std::string path = {};                  // "history trend"
  const CLI::Option* awaiting = nullptr;  // the option that still needs its value
  std::vector<std::size_t> arguments{};   // the words that are positional arguments of the command
  bool options_ended = false;             // by "--"

  // The next positional argument; null if the command takes no more.
  const CLI::Option* next_argument() const {
    const Options all = arguments_of(*command);
    if (arguments.size() < all.size()) return all[arguments.size()];
    return !all.empty() && all.back()->get_items_expected_max() > 1 ? all.back() : nullptr;
  }
};

// Nothing if the words are not a valid command line.
std::optional<CommandPlace> place_of(const CLI::App& app, std::span<const std::string> words) {
  CommandPlace place = {.command = &app};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.awaiting != nullptr) {
      place.awaiting = nullptr;
    } else if (!place.options_ended && word == "--") {
      place.options_ended = true;
    } else if (!place.options_ended && word.starts_with('-')) {
      const CLI::Option* option = find_option(*place.command, word);
      if (option != nullptr && takes_value(*option)) place.awaiting = option;
    } else if (const CLI::App* command = find_command(*place.command, word);
               command != nullptr && !place.options_ended) {
      place.path += (place.path.empty() ? "" : " ") + word;
      place.command = command;
      place.arguments.clear();
    } else if (place.next_argument() != nullptr) {
      place.arguments.push_back(i);
    } else {
      return std::nullopt;
    }
  }
  return place;
}

// The output for the last word, `typed`.
struct Answer {
  std::string_view typed;
  std::string candidates{}, directives{};

  void offer(const Candidate& candidate, std::string_view before = "") {
    const std::string word = fmt::format("{}{}", before, candidate.text);
    if (!word.starts_with(typed)) return;
    const std::string_view description = candidate.description;
    candidates += word;
    if (!description.empty()) candidates += '\t';
    candidates += description.substr(0, description.find_first_of("\t\n"));
    candidates += '\n';
    if (word.ends_with(':')) directives = ":nospace\n";
  }

  // Comma-separated values: offers those that are not in the list yet.
  void offer_list(const std::vector<Candidate>& values, std::string_view before) {
    const std::string_view list = typed.substr(before.size());
    const std::string_view complete = list.substr(0, list.rfind(',') + 1);
    const std::string there = fmt::format(",{}", complete);
    for (const Candidate& value : values) {
      if (!there.contains("," + value.text + ","))
        offer(value, fmt::format("{}{}", before, complete));
    }
    directives = ":nospace\n";
  }

  template <class Text>
  void direct(std::string_view directive, const Text& text) {
    directives += fmt::format(":{}\t{}\n", directive, text);
  }
};

// `before`: the part of the typed word before the value. `word`: the index of the typed word, or of
// the first of several values.
void offer_values(const CLI::Option& option, const CommandPlace& place, std::string before,
                  std::size_t word, Answer& answer) {
  const ValueRule* rule = find_value_rule(place.path, option.get_name());
  if (rule == nullptr) return;
  const std::vector<Candidate> values = candidates_of(*rule);
  if (option.get_delimiter() == ',') {
    answer.offer_list(values, before);
  } else {
    for (const Candidate& value : values) answer.offer(value, before);
  }
  const std::string image = before + "image:";
  if (rule->kind == ValueKind::volumes && answer.typed.starts_with(image)) {
    answer = {.typed = answer.typed};
    before = image;
  }
  switch (rule->kind) {
    case ValueKind::words:
      return;
    case ValueKind::files:
    case ValueKind::volumes:
      return answer.direct("files", before);
    case ValueKind::directories:
      return answer.direct("directories", before);
    case ValueKind::command:
      return answer.direct("command", word);
  }
}

// A word that starts with a dash: an option, "--name=VALUE" or "-nVALUE".
void offer_options(const CommandPlace& place, std::size_t word, Answer& answer) {
  const std::string typed(answer.typed);
  const bool is_long = typed.starts_with("--");
  const std::size_t end = is_long ? typed.find('=') : 2;
  if (end < typed.size()) {
    const CLI::Option* option = find_option(*place.command, typed.substr(0, end));
    if (option == nullptr || !takes_value(*option)) return;
    return offer_values(*option, place, typed.substr(0, is_long ? end + 1 : end), word, answer);
  }
  for (const CLI::Option* option : options_of(*place.command)) {
    const std::string& description = option->get_description();
    for (const std::string& name : option->get_snames()) answer.offer({"-" + name, description});
    for (const std::string& name : option->get_lnames()) answer.offer({"--" + name, description});
  }
}

}  // namespace

std::string complete_words(const CLI::App& app, std::span<const std::string> words) {
  if (words.empty()) return {};
  const std::size_t last = words.size() - 1;
  const std::optional<CommandPlace> place = place_of(app, words.first(last));
  if (!place) return {};
  Answer answer = {.typed = words.back()};
  if (place->awaiting != nullptr) {
    offer_values(*place->awaiting, *place, "", last, answer);
  } else if (!place->options_ended && answer.typed.starts_with('-')) {
    offer_options(*place, last, answer);
  } else if (const CLI::Option* argument = place->next_argument()) {
    const std::size_t before = arguments_of(*place->command).size() - 1;
    const bool goes_on = place->arguments.size() > before;
    offer_values(*argument, *place, "", goes_on ? place->arguments[before] : last, answer);
  } else if (!place->options_ended &&
             place->arguments.size() == arguments_of(*place->command).size()) {
    for (const CLI::App* command : commands_of(*place->command)) {
      answer.offer({command->get_name(), command->get_description()});
    }
  }
  return answer.candidates + answer.directives;
}

// Completion scripts for bash, zsh and fish. They call the program as typed or, for an alias,
// filereel from the PATH.
namespace {

constexpr std::string_view kBash = R"sh(
_filereel() {
  local words=() found word last='' rest kind
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do  # readline also splits at "=" and ":"
    [[ ${#words[@]} != 0 && ($word == [=:]* || $last == *[=:]) ]] || words+=('')
    words[-1]+=$word last=$word
  done
  local typed=${words[-1]} program=$(type -P "$1")
  COMPREPLY=()
  while IFS=$'\t' read -r word rest; do
    case $word in
      :nospace) compopt -o nospace; continue ;;
      :command) kind=-f; ((rest == ${#words[@]} - 1)) && kind=-c; rest= ;;
      :*) kind=-${word:1:1} ;;  # -f or -d
      *) COMPREPLY+=("$word"); continue ;;
    esac
    mapfile -t found < <(compgen -P "$rest" $kind -- "${typed#"$rest"}")
    [[ ${#found[@]} == 0 || $kind == -c ]] || compopt -o filenames
    COMPREPLY+=("${found[@]}")
  done < <("${program:-filereel}" __complete -- "${words[@]}" 2>/dev/null)
  last=${typed%"${typed##*[=:]}"}  # readline already has this part
  COMPREPLY=("${COMPREPLY[@]#"$last"}")
}
complete -F _filereel filereel
)sh";

constexpr std::string_view kZsh = R"sh(
local word rest directive text result=1 program=${$(whence -p -- ${(Q)words[1]}):-filereel}
local -a candidates options
while IFS=$'\t' read -r word rest; do
  case $word in
    :nospace) options=(-S '') ;;
    :*) directive=$word text=$rest ;;
    *) candidates+=("${word//:/\\:}${rest:+:$rest}") ;;
  esac
done < <($program __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
(( $#candidates )) && _describe value candidates "${(@)options}" && result=0
case $directive in
  :files) compset -P "$text"; _files && result=0 ;;
  :directories) compset -P "$text"; _files -/ && result=0 ;;
  :command) shift $(( text + 1 )) words; (( CURRENT -= text + 1 )); _normal && result=0 ;;
esac
return result
)sh";

constexpr std::string_view kFish = R"sh(
function __filereel_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (command -s -- $words[1] filereel)[1]
    test -n "$program"; or return
    $program __complete -- $words[2..-1] 2>/dev/null | while read -l -d \t word rest
        set -l typed (string replace -- "$rest" '' $words[-1])
        switch $word
            case :nospace  # fish decides by the last character
            case :files :directories
                for name in (complete -C "'' $typed")
                    test $word = :files; or string match -q '*/' $name; and echo $rest$name
                end
            case :command
                __fish_complete_subcommand --commandline $words[(math $rest + 2)..-1]
            case '*'
                printf '%s\t%s\n' $word $rest
        end
    end
end
complete -c filereel -f -a '(__filereel_complete)'
)sh";

struct Shell {
  std::string_view name, first_line, stub;
};
constexpr std::array<Shell, 3> kShells = {
    {{"bash", "", kBash}, {"zsh", "#compdef filereel\n", kZsh}, {"fish", "", kFish}}};

}  // namespace

std::vector<std::string_view> completion_shells() {
  std::vector<std::string_view> names;
  for (const Shell& shell : kShells) names.push_back(shell.name);
  return names;
}

std::string completion_stub(std::string_view name) {
  const Shell* const shell = find_or_null(kShells, name, &Shell::name);
  if (!shell) return {};
  const std::string made =
      fmt::format("# Completion of filereel for {0}, created by `filereel completion {0}`.", name);
  return fmt::format("{}{}{}", shell->first_line, made, shell->stub);
}

}  // namespace filereel
