#include "tools/command_line.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "filesets/error.h"
#include "filesets/process.h"
#include "tools/commands.h"

namespace filereel {
namespace {

int complain(std::string text, int code) {
  std::ranges::replace(text, '\n', ' ');  // one line, whatever a library says
  fmt::print(stderr, "filereel: {}\n", text);
  return code;
}

// The command that the arguments got to, for a pointer to its help.
std::string command_path(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* command : app.get_subcommands()) path += " " + command_path(*command);
  return path;
}

// CLI11 would only say that a command is missing.
void check_command(const CLI::App& app, std::string_view word) {
  const auto named = [&](const CLI::App* command) { return command->get_name() == word; };
  if (!word.starts_with('-') && app.get_subcommands(named).empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("there is no command '{}'; see filereel --help", word));
  }
}

}  // namespace

void add_commands(CLI::App& app, Session& session) {
  app.set_version_flag("--version", "filereel " FILEREEL_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Start with:\n  filereel run          FC-Test on two images in this directory, about a "
      "minute\n  filereel doctor       what this machine can do");
  app.add_flag("-q,--quiet", session.quiet, "No progress and no remarks, only results");
  app.add_flag("--no-color", session.no_color, "No bold text (also: NO_COLOR in the environment)");
  add_run_command(app, session);
  add_record_command(app, session);
  add_import_command(app, session);
  add_replay_command(app, session);
  add_report_command(app, session);
  add_capture_command(app, session);
  add_populate_command(app, session);
  add_show_command(app, session);
  add_export_command(app, session);
  add_cut_command(app, session);
  add_merge_command(app, session);
  add_repeat_command(app, session);
  add_anonymise_command(app, session);
  add_compare_command(app, session);
  add_list_command(app, session);
  add_doctor_command(app, session);
  add_history_command(app, session);
  add_clean_command(app, session);
  add_completion_command(app, session);
}

int run_command_line(int argc, const char* const* argv) {
  survive_failed_writes();
  CLI::App app("Tests storage the way people use it: whole files through a file system.",
               "filereel");
  Session session;
  add_commands(app, session);
  try {
    if (argc > 1) check_command(app, argv[1]);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(fmt::format("{}; see {} --help", error.what(), command_path(app)),
                    static_cast<int>(ErrorKind::usage));
  } catch (const Error& error) {
    return complain(error.what(), static_cast<int>(error.kind()));
  } catch (const std::exception& error) {
    return complain(error.what(), static_cast<int>(ErrorKind::failed));
  }
  return session.exit_code;
}

}  // namespace filereel
