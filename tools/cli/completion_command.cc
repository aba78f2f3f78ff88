// filereel completion and __complete: shell completion (tools/cli/completion/completion.h). Called
// by packages and by the completion scripts; hidden from the help.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "tools/cli/commands.h"
#include "tools/cli/completion/completion.h"

namespace filereel {
namespace {

void add_complete(CLI::App& app, const Session& session) {
  CLI::App* command = app.add_subcommand("__complete", "Print candidates for the last word");
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("WORDS", *words, "Words after filereel, after --");
  command->group("")->fallthrough(false)->allow_extras();  // never fails
  command->callback([words, &app, &session] { session.write(complete_words(app, *words)); });
}

}  // namespace

void add_completion_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->group("");
  command->footer(
      "Example:\n  filereel completion bash > "
      "~/.local/share/bash-completion/completions/filereel");
  command->callback([shell, &session] {
    const std::string stub = completion_stub(*shell);
    if (stub.empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("unsupported shell '{}': use bash, zsh or fish", *shell));
    }
    session.write(stub);
  });
  add_complete(app, session);
}

}  // namespace filereel
