// filereel completion: prints what a shell needs to complete the command line. Packages install it;
// it is not in the help.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "tools/commands.h"
#include "tools/completion/completion.h"

namespace filereel {

void add_completion_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("completion", "Print a shell's completion of filereel");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->group("");
  command->footer(
      "Example:\n  filereel completion bash > "
      "~/.local/share/bash-completion/completions/filereel");
  command->callback([shell, &app, &session] {
    const CompletedCommand root = completed_command(app);
    if (*shell == "bash") {
      session.write(bash_completion(root));
    } else if (*shell == "zsh") {
      session.write(zsh_completion(root));
    } else if (*shell == "fish") {
      session.write(fish_completion(root));
    } else {
      throw Error(ErrorKind::usage,
                  fmt::format("there is no completion for '{}': use bash, zsh or fish", *shell));
    }
  });
}

}  // namespace filereel
