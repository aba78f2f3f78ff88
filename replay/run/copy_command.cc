#include "replay/run/copy_command.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/process.h"
#include "replay/measure/clock.h"
#include "replay/run/shell_program.h"

namespace filereel {
namespace {

bool is_name(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+/-").contains(c);
  });
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 && is_name(word.substr(0, equals));
}

// Finds the first words of the commands in a text of the shell, without those that are quoted or
// expanded: VAR=1 a x | b y && (c z) has a, b and c.
class ProgramNames {
 public:
  explicit ProgramNames(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool redirects = c == '&' && ((i > 0 && text[i - 1] == '>') ||
                                          (i + 1 < text.size() && text[i + 1] == '>'));
      if (quote_ != '\0') {
        if (c == quote_) quote_ = '\0';
      } else if (c == '\'' || c == '"') {
        quote_ = c;
        word_ += c;  // no longer a name
      } else if (c == '\\') {
        word_ += c;
        ++i;
      } else if (!redirects && std::string_view("|&;()\n").contains(c)) {
        end_word();
        first_ = true;
      } else if (c == ' ' || c == '\t') {
        end_word();
      } else {
        word_ += c;
      }
    }
    end_word();
  }
  const std::vector<std::string>& list() const { return names_; }

 private:
  void end_word() {
    if (word_.empty()) return;
    if (first_ && !is_assignment(word_)) {
      first_ = false;
      if (is_name(word_)) names_.push_back(word_);
    }
    word_.clear();
  }

  std::vector<std::string> names_;
  std::string word_;
  char quote_ = '\0';
  bool first_ = true;  // the next word is the first one of a command
};

std::string quoted(std::string_view path) {
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The present path of an open directory.
std::string present_path(int directory) {
  std::string path(PATH_MAX, '\0');
  const ssize_t length =
      readlink(fmt::format("/proc/self/fd/{}", directory).c_str(), path.data(), path.size());
  path.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  struct stat there{}, open{};
  if (stat(path.c_str(), &there) != 0 || fstat(directory, &open) != 0 ||
      there.st_dev != open.st_dev || there.st_ino != open.st_ino) {
    throw Error(ErrorKind::failed, fmt::format("{} was moved or replaced during the run; name "
                                               "another directory, or leave this one in place",
                                               printable(path)));
  }
  return path;
}

std::string describe(const ProgramEnd& end) {
  std::string text = end.signal != 0 ? fmt::format("killed by signal {}", end.signal)
                                     : fmt::format("exit status {}", end.status);
  if (!end.complaint.empty()) text += ": " + printable(end.complaint, 300);
  return text;
}

}  // namespace

void check_copy_command(std::string_view command) {
  if (command.contains("{from}") && command.contains("{to}")) return;
  throw ValueError(ErrorKind::usage,
                   {.text = "must contain {from} and {to}, such as 'cp -a {from}/. {to}'",
                    .is_predicate = true});
}

std::string missing_program(std::string_view command) {
  const ProgramNames names(command);
  for (const std::string& name : names.list()) {
    // The shell also knows its own commands.
    ChildProcess look({"sh", "-c", "command -v -- \"$1\"", "sh", name});
    constexpr double kPatience = 10;  // seconds
    if (look.wait(kPatience) != 0) return name;
  }
  return "";
}

std::string shell_text(const CopyProgram& program, std::string_view from, std::string_view to) {
  const std::pair<std::string_view, std::string> values[] = {
      {"{from}", quoted(from)},
      {"{to}", quoted(to)},
      {"{threads}", std::to_string(program.threads)}};
  std::string text;
  for (std::string_view rest = program.command; !rest.empty();) {
    const auto found = std::ranges::find_if(
        values, [&](const auto& value) { return rest.starts_with(value.first); });
    const bool any = found != std::end(values);
    text += any ? found->second : std::string(rest.substr(0, 1));
    rest.remove_prefix(any ? found->first.size() : 1);
  }
  return text;
}

ReplayOutcome run_copy_program(const CopyProgram& program, const std::array<int, kRoles>& roots,
                               const ReplayOptions& options, std::string_view what) {
  const int from_root = roots[0], to_root = roots[static_cast<std::size_t>(program.to_role)];
  const std::string to(program.to);
  if (mkdirat(to_root, to.c_str(), 0755) != 0) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: cannot create its directory: {}", what, error_text(errno)));
  }
  const std::string text =
      shell_text(program, present_path(from_root) + "/" + std::string(program.from),
                 present_path(to_root) + "/" + to);
  const auto begin = [&] {
    if (options.on_measured_start) options.on_measured_start();
  };
  options.gate ? options.gate(begin) : begin();

  ReplayOutcome outcome;
  const std::uint64_t start = now_ns();
  ShellProgram running(text, program.threads);
  const std::optional<ProgramEnd> end = running.wait(options.stop);
  outcome.end_ns = end ? end->at_ns : now_ns();
  outcome.elapsed_s = static_cast<double>(outcome.end_ns - start) * 1e-9;
  if (!end) return outcome;
  if (end->signal != 0 || end->status != 0) {
    throw Error(ErrorKind::failed, fmt::format("{} failed: {}", what, describe(*end)));
  }
  outcome.complete = true;
  outcome.cpu_user_s = end->cpu_user_s;
  outcome.cpu_system_s = end->cpu_system_s;
  return outcome;
}

}  // namespace filereel
