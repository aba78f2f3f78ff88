#include "replay/jobs/copy_command.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/programs.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

constexpr std::size_t kKeptComplaints = 4 << 10;

// The first `count` of the processors that the calling thread may use; all if there are fewer.
cpu_set_t processors_of(std::uint32_t count) {
  cpu_set_t all, some;
  CPU_ZERO(&all);
  CPU_ZERO(&some);
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0; cpu < CPU_SETSIZE && count > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &some);
    --count;
  }
  return some;
}

// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void exec_shell(char* text, const cpu_set_t& processors, const ChildStreams& streams,
                             pid_t parent) {
  sched_setaffinity(0, sizeof processors, &processors);
  char name[] = "sh", option[] = "-c";
  char* const arguments[] = {name, option, text, nullptr};
  exec_child("/bin/sh", arguments, streams, parent);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Waits until all processes of a group that was told to end have gone; in the end by force.
void await_end(pid_t group) {
  constexpr int kLooks = 4000, kPatience = 2000;
  constexpr useconds_t kPauseUs = 1000;
  for (int look = 0; look < kLooks; ++look) {
    waitpid(group, nullptr, WNOHANG);  // its leader, unless that was done before
    if (kill(-group, 0) != 0) return;
    if (look >= kPatience) kill(-group, SIGKILL);
    usleep(kPauseUs);
  }
}

}  // namespace

ShellProgram::ShellProgram(const std::string& text, std::uint32_t processors) {
  const auto fail = [](int error) {
    throw Error(ErrorKind::failed,
                fmt::format("cannot start a program: {}", start_error_text(error, "")));
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(errno);
  complaints_.reset(ends[0]);
  const Descriptor other_end(ends[1]);
  fcntl(complaints_.get(), F_SETFL, O_NONBLOCK);
  const cpu_set_t set = processors_of(processors);
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) fail(errno);
  const ChildStreams streams = {null.get(), null.get(), other_end.get()};
  std::string command = text;
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) exec_shell(command.data(), set, streams, parent);
  if (pid_ < 0) fail(errno);
  setpgid(pid_, pid_);  // whoever is first
  handle_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!handle_) {
    const int error = errno;
    kill(-pid_, SIGKILL);
    await_end(pid_);
    fail(error);
  }
}

ShellProgram::~ShellProgram() {
  if (pid_ < 0) return;
  kill(-pid_, SIGTERM);
  await_end(pid_);
}

// Whether the shell has ended; waits for it at most so long, or until it complains.
bool ShellProgram::ended(int timeout_ms) {
  std::array<pollfd, 2> looks = {{{handle_.get(), POLLIN, 0}, {complaints_.get(), POLLIN, 0}}};
  poll(looks.data(), looks.size(), timeout_ms);
  if (looks[1].revents != 0) read_complaints();
  return looks[0].revents != 0;
}

// Keeps the beginning; the program must not wait for a full pipe.
void ShellProgram::read_complaints() {
  std::array<char, kKeptComplaints> piece;
  for (ssize_t got; (got = read(complaints_.get(), piece.data(), piece.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    const auto room = kKeptComplaints - text_.size();
    text_.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
  }
  complaints_.reset();  // closed by all writers
}

std::optional<ProgramEnd> ShellProgram::wait(const std::stop_token& stop) {
  constexpr int kLookMs = 50;
  while (!ended(kLookMs)) {
    if (stop.stop_requested()) return std::nullopt;
  }
  ProgramEnd end{.at_ns = now_ns(), .complaint = {}};
  read_complaints();
  const std::size_t first = text_.find_first_not_of('\n');
  if (first != std::string::npos)
    end.complaint = text_.substr(first, text_.find('\n', first) - first);
  // What it left in the background. The group exists, because the shell is not yet reaped.
  const pid_t group = std::exchange(pid_, -1);
  kill(-group, SIGKILL);
  int status = 0;
  rusage used{};
  while (wait4(group, &status, 0, &used) < 0 && errno == EINTR) {
  }
  end.cpu_user_s = seconds_of(used.ru_utime);
  end.cpu_system_s = seconds_of(used.ru_stime);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  await_end(group);
  return end;
}

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
                   {.value = std::string(command),
                    .text = "must contain {from} and {to}, such as 'cp -a {from}/. {to}'",
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
