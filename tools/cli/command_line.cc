#include "tools/cli/command_line.h"

#include <algorithm>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/limits.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"
#include "filesets/system/wording.h"
#include "tools/cli/commands.h"
#include "tools/cli/completion/completion.h"
#include "tools/cli/usage_text.h"

namespace filereel {

void reserve_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    const int access = number == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    Descriptor null(::open("/dev/null", access | O_CLOEXEC));  // takes the lowest number
    if (!null) throw_failed(fmt::format("cannot open /dev/null: {}", error_text(errno)));
    static_cast<void>(null.release());  // open until the process ends
  }
}

namespace {

constexpr std::size_t kLongestComplaint = 5000;  // bytes: room for a path

// Relative paths lead nowhere then, whatever the message says about them.
std::string lost_place() {
  if (has_working_directory()) return "";
  return " (the working directory does not exist any more: change to another one, or use absolute "
         "paths)";
}

// For exceptions of threads, which nobody catches: most are for lack of memory.
[[noreturn]] void end_by_failure() {
  try {
    if (const std::exception_ptr failure = std::current_exception()) {
      std::rethrow_exception(failure);
    }
  } catch (const std::exception& failure) {
    complain(failure_text(failure));
  } catch (...) {
    complain(failure_text(std::exception()));
  }
  _exit(static_cast<int>(ErrorKind::failed));
}

// Prints the text of --help or --version.
int print_information(const CLI::App& app, const CLI::ParseError& asked, const Session& session) {
  std::ostringstream text;
  const int code = app.exit(asked, text, text);
  session.print(text.str());
  return code;
}

// Parses the arguments and runs the command; throws.
int obey(int argc, const char* const* argv) {
  CLI::App app("Record what programs do to files, replay it elsewhere, and time it.", "filereel");
  Session session;
  add_commands(app, session);
  try {
    if (argc > 1) check_command(app, argv[1]);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_information(app, error, session);
    throw Error(ErrorKind::usage, usage_text(app, error));
  } catch (const Error& error) {
    if (session.exit_code != Session::kInterrupted) throw;
    complain(error.what());  // such as a failed write to a closed terminal, which interrupted it
  }
  return session.exit_code;
}

// Names the values of options in the help, and refuses empty ones: otherwise an unset variable of a
// script would pass for a missing option. `path`: of the command.
void describe_values(CLI::App& app, const std::string& path) {
  const CLI::Validator not_empty(
      [](const std::string& value) { return value.empty() ? "must not be empty" : ""; }, "");
  for (CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool foreign = name == "COMMAND" || name == "WORDS";  // other command lines
    if (option->get_items_expected_max() == 0) continue;
    if (!foreign) option->check(not_empty);
    const ValueRule* rule = find_value_rule(path, name);
    option->type_name(rule == nullptr || option->get_positional() ? "" : std::string(rule->value));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    describe_values(*command,
                    path.empty() ? command->get_name() : path + " " + command->get_name());
  }
}

}  // namespace

void add_commands(CLI::App& app, Session& session) {
  app.set_help_flag("-h,--help", "Print this help message and exit");
  app.set_version_flag("--version", "filereel " FILEREEL_VERSION,
                       "Display program version information and exit");
  app.formatter(help_formatter());
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Start with:\n  filereel run          run FC-Test on two images in this directory (about a "
      "minute)\n  filereel doctor       show what this machine supports");
  app.add_flag("-q,--quiet", session.quiet, "Print results only, no progress or remarks");
  app.add_flag("--no-color", session.no_color,
               "Do not use colours and bold text (also: NO_COLOR in the environment)");
  add_run_command(app, session);
  add_record_command(app, session);
  add_import_command(app, session);
  add_replay_command(app, session);
  add_predict_command(app, session);
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
  describe_values(app, "");
}

CLI::Validator in_range(std::uint32_t least, std::uint32_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    if (parse_number_in<std::uint32_t>(text, least, most)) return "";
    return fmt::format("Value {} not in range {} to {}", text, least, most);
  };
  return {check, ""};
}

std::string one_line(std::string text, std::size_t longest) {
  constexpr std::size_t kEnd = 200;
  std::ranges::replace(text, '\n', ' ');
  if (text.size() <= longest) return printable_line(text);
  std::string_view end = std::string_view(text).substr(text.size() - kEnd);
  const auto continues = [](char byte) { return (byte & 0xc0) == 0x80; };  // inside UTF-8
  while (!end.empty() && continues(end.front())) end.remove_prefix(1);
  return printable(text, longest - kEnd) + printable_line(end);
}

void complain(const std::string& text) {
  write_to(STDERR_FILENO, fmt::format("filereel: {}\n", one_line(text, kLongestComplaint)));
}

int run_command_line(int argc, const char* const* argv) {
  std::set_terminate(end_by_failure);
  ErrorKind kind = ErrorKind::failed;
  std::string text;
  try {
    reserve_standard_streams();
    ignore_write_signals();
    size_thread_stacks();
    return obey(argc, argv);
  } catch (const Error& error) {
    kind = error.kind();
    text = error.what();
    const bool is_told = kind == ErrorKind::usage || text.contains("a policy denies");
    if (!is_told) text += denials_note();
    text += lost_place();
  } catch (const std::exception& error) {
    text = failure_text(error);
  }
  complain(text);
  return static_cast<int>(kind);
}

}  // namespace filereel
