// Completion scripts for bash, zsh and fish. They call the program as typed or, for an alias,
// filereel from the PATH.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tools/completion/completion.h"

namespace filereel {
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

constexpr std::array<std::string_view, 3> kShells = {"bash", "zsh", "fish"};
constexpr std::array<std::string_view, 3> kStubs = {kBash, kZsh, kFish};

}  // namespace

std::span<const std::string_view> completion_shells() {
  return kShells;
}

std::string completion_stub(std::string_view shell) {
  const auto found = std::ranges::find(kShells, shell);
  if (found == kShells.end()) return {};
  const std::string made =
      fmt::format("# Completion of filereel for {0}, created by `filereel completion {0}`.", shell);
  const std::string_view stub = kStubs[static_cast<std::size_t>(found - kShells.begin())];
  return fmt::format("{}{}{}", shell == "zsh" ? "#compdef filereel\n" : "", made, stub);
}

}  // namespace filereel
