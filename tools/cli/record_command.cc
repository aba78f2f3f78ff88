// filereel record: records a program's file operations as a reel.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "tools/cli/commands.h"
#include "tools/cli/output_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/recording.h"
#include "tools/cli/reel_output.h"
#include "tools/cli/signals.h"
#include "traces/record/program.h"
#include "traces/record/running_process.h"

namespace filereel {
namespace {

// Fast compression, so that little remains to be written when the program ends.
constexpr int kCompression = 4;

constexpr std::uint64_t kMostMemory = 1'000'000'000'000;

struct RecordArguments {
  std::vector<std::string> command;
  std::string output, backend = "auto", under, duration, grace = "10s", memory;
  std::string check = "tree";
  std::uint32_t process = 0;
  bool exit_code = false, no_faults = false, all_processors = false;
  bool no_check = false, strict = false;
};

void check_process(std::uint32_t process) {
  if (process == static_cast<std::uint32_t>(getpid())) {
    throw Error(ErrorKind::usage, "--pid names filereel itself; name another process");
  }
  if (kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) {
    throw Error(ErrorKind::failed,
                fmt::format("no process {}; name a running one (pgrep NAME)", process));
  }
  check_visible(process);
}

std::uint64_t memory_of(const std::string& given) {
  const std::uint64_t bytes = parse_size(given, "--memory", ErrorKind::usage);
  if (bytes < RecordingMemory::kLeast || bytes > kMostMemory) {
    throw Error(ErrorKind::usage,
                fmt::format("--memory {} is out of range: must be {} to {}", printable(given),
                            format_size(RecordingMemory::kLeast), format_size(kMostMemory)));
  }
  const MemoryLimit limit = memory_limit();
  if (!limit.is_machine && bytes > limit.bytes) {
    throw Error(ErrorKind::usage,
                fmt::format("--memory {} is more than is permitted: {}, or give less",
                            printable(given), limit.text()));
  }
  return bytes;
}

RecordRequest make_request(const RecordArguments& arguments) {
  if (arguments.command.empty() == (arguments.process == 0)) {
    throw Error(ErrorKind::usage,
                "give either a program after --, or --pid; see filereel record --help");
  }
  if (arguments.process != 0) check_process(arguments.process);
  RecordRequest request;
  request.command = arguments.command;
  request.process = arguments.process;
  request.faults = !arguments.no_faults;
  request.others = !arguments.no_check;
  request.content = checks_content(arguments.check);
  request.one_processor = !arguments.all_processors;
  constexpr double kSecond = 1e9;
  request.grace_seconds =
      static_cast<double>(parse_duration(arguments.grace, "--grace", ErrorKind::usage)) / kSecond;
  if (!arguments.memory.empty()) request.memory = memory_of(arguments.memory);
  if (!arguments.under.empty()) {
    request.under = canonical_path(arguments.under);
    if (request.under.empty()) {
      throw Error(ErrorKind::failed, fmt::format("--under {}: {}; name an existing directory",
                                                 printable(arguments.under), strerror(errno)));
    }
  }
  return request;
}

std::string default_output(const RecordRequest& request) {
  std::string name;
  if (!request.command.empty()) {
    name = request.command.front();
  } else {
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", request.process)), name);
  }
  name = base_name(name);
  return (name.empty() ? "program" : name) + ".reel";
}

bool records_compat(const RecordRequest& request) {
  return is_compat_program(request.command.empty() ? fmt::format("/proc/{}/exe", request.process)
                                                   : request.command.front());
}

// Stops a recording on a signal or after --duration.
class RecordingEnd {
 public:
  explicit RecordingEnd(const std::stop_token& signal)
      : on_signal_(signal, [this] { stop_.request_stop(); }) {}

  void count_down(std::uint64_t duration_ns) {
    timer_ = std::jthread([this, duration_ns](const std::stop_token& over) {
      std::mutex idle;
      std::condition_variable_any wake;
      std::unique_lock lock(idle);
      wake.wait_for(lock, over, std::chrono::nanoseconds(duration_ns), [] { return false; });
      if (!over.stop_requested()) stop_.request_stop();
    });
  }

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> on_signal_;
  std::jthread timer_;
};

// Name of the recorded program in notices.
std::string program_name(const RecordArguments& arguments) {
  return arguments.command.empty() ? fmt::format("process {}", arguments.process)
                                   : printable(base_name(arguments.command.front()));
}

// Whether the recorded program writes to filereel's standard error, as far as known at the start of
// the recording. Its output would mix with the progress line.
bool shares_standard_error(const RecordArguments& arguments) {
  if (!arguments.command.empty()) return true;  // it inherits it
  struct stat terminal{};
  if (fstat(STDERR_FILENO, &terminal) != 0) return false;
  return std::ranges::any_of(std::array{STDOUT_FILENO, STDERR_FILENO}, [&](int descriptor) {
    struct stat other{};
    const std::string path = fmt::format("/proc/{}/fd/{}", arguments.process, descriptor);
    return stat(path.c_str(), &other) == 0 && other.st_dev == terminal.st_dev &&
           other.st_ino == terminal.st_ino;
  });
}

// Whether there is a program to start, as far as its file shows.
bool can_start(const RecordArguments& arguments) {
  if (arguments.command.empty()) return false;
  const std::optional<std::string> file = file_of_command(arguments.command.front());
  return file && access(file->c_str(), X_OK) == 0;
}

constexpr int kKilled = 128;

// "exited with 1"; "" if it succeeded, was asked to end, or goes on.
std::string failure_of(const RecordArguments& arguments, const RecordOutcome& outcome,
                       bool interrupted) {
  const int status = outcome.status.value_or(0);
  if (status == 0 || interrupted || !arguments.duration.empty()) return "";
  return status > kKilled ? fmt::format("was killed by signal {}", status - kKilled)
                          : fmt::format("exited with {}", status);
}

// filereel's exit code after the program's end.
int exit_code_for(const RecordArguments& arguments, const RecordOutcome& outcome, bool interrupted,
                  const Session& session) {
  if (arguments.command.empty()) return 0;  // Ctrl-C is the usual end of such a recording
  if (!outcome.status) {
    session.notice(program_name(arguments) + " continues unrecorded");
    return interrupted || arguments.exit_code ? Session::kInterrupted : 0;
  }
  const int status = *outcome.status;
  if (arguments.exit_code) return status;
  if (interrupted) return status < kKilled ? 0 : Session::kInterrupted;
  if (const std::string why = failure_of(arguments, outcome, interrupted); !why.empty()) {
    session.notice(fmt::format("{} {}", program_name(arguments), why));
  }
  return 0;
}

// Whether the program still runs, before its end was reported to the recording.
bool still_runs(const RecordArguments& arguments) {
  if (!arguments.command.empty()) {  // filereel's only remaining child
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  }
  return kill(static_cast<pid_t>(arguments.process), 0) == 0 || errno != ESRCH;
}

// Rethrows the error, and adds that the program still runs.
[[noreturn]] void fail(const RecordArguments& arguments, const Error& error) {
  if (!still_runs(arguments)) throw error;
  throw Error(error.kind(),
              fmt::format("{}; {} continues unrecorded", error.what(), program_name(arguments)));
}

// Compares the recording with the real tree, in a small share of its time. False if it differs.
bool agrees_with_reality(const RecordArguments& arguments, const RecordRequest& request,
                         RecordOutcome& outcome, ReelOutput& output) {
  constexpr double kShare = 0.02, kLeast = 0.1;
  if (arguments.no_check) return true;
  const double recorded_s = static_cast<double>(outcome.ended_ns - outcome.origin_ns) * 1e-9;
  return output
             .check({.root = std::move(outcome.root),
                     .below = request.under.empty() ? "" : request.under.substr(1),
                     .origin_ns = outcome.origin_ns,
                     .ended_ns = outcome.ended_ns,
                     .seconds = std::max(kLeast, kShare * recorded_s),
                     .others = std::move(outcome.others)})
             .differing == 0;
}

// ptrace takes privileges from a program, which then fails or does other things.
void warn_of_privileges(const RecordArguments& arguments, const RecorderChoice& choice,
                        Session& session) {
  if (choice.backend->name != "strace" || arguments.command.empty()) return;
  const std::string lost = privileges_lost_to_tracing(arguments.command.front());
  if (lost.empty()) return;
  session.notice(
      fmt::format("{} runs without the privileges of its file ({}): the kernel withholds them "
                  "from traced programs; {}",
                  program_name(arguments), lost,
                  root_advice("record as root, which uses BPF or may trace them",
                              "allow BPF, or CAP_SYS_PTRACE")));
}

void record(const RecordArguments& arguments, Session& session) {
  require_proc("recording");
  RecordRequest request = make_request(arguments);
  std::optional<std::uint64_t> duration_ns;
  if (!arguments.duration.empty()) {
    duration_ns = parse_duration(arguments.duration, "--duration", ErrorKind::usage);
  }
  const RecorderChoice choice = choose_recorder(arguments.backend, records_compat(request));
  std::string limited;  // why the recording has less memory than usual
  if (arguments.memory.empty()) {
    const MemoryLimit limit = memory_limit();
    request.memory = default_memory(limit.left, choice.backend->has_ring);
    if (request.memory < RecordingMemory::kDefault) {
      limited = fmt::format(" in {} of memory: {}", format_size(request.memory), limit.text());
    }
  }
  warn_of_privileges(arguments, choice, session);
  const SignalWatch signals;
  request.blocked = signals.blocked_before();
  ReelOutput output(arguments.output.empty() ? default_output(request) : arguments.output,
                    {.compression = kCompression, .time_unit_ns = choice.backend->time_unit_ns});
  if (request.content) output.sample_content();
  if (!arguments.command.empty()) output.mark_clients();
  const std::unique_ptr<Recorder> recorder = choice.backend->make();
  RecordOutcome outcome;
  bool started = false;
  try {
    const auto begin = std::chrono::steady_clock::now();
    const auto describe = [&] {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      return fmt::format("{}  {}  {}  {} lost", format_duration(elapsed.count()),
                         counted(output.written(), "operation"), format_size(output.bytes()),
                         recorder->lost());
    };
    RecordingConditions conditions(choice.backend->has_ring
                                       ? std::function<std::uint64_t()>()
                                       : [&signals] { return signals.continued(); });
    ProgressLine line(session,
                      shares_standard_error(arguments) ? std::function<std::string()>() : describe);
    RecordingEnd end(signals.token());
    const std::string notice = "recording " + choice.description + limited;
    // A program often shares filereel's standard error. If that is a file, the notice must be in it
    // before its size is taken.
    const bool is_early = can_start(arguments);
    if (is_early) line.notice(notice);
    request.started = [&] {
      started = true;
      conditions.begin(request.process);
      if (!is_early) line.notice(notice);
      if (duration_ns) end.count_down(*duration_ns);
    };
    request.ended = [&] { conditions.end(); };
    outcome = recorder->record(request, output.builder(), end.token());
    conditions.add_facts(output.builder(), choice.backend->has_ring
                                               ? std::optional(output.waited_for_processors_s())
                                               : std::nullopt);
    if (const std::string why = failure_of(arguments, outcome, signals.requested()); !why.empty()) {
      output.builder().fact(kFailedFact, why);
    }
  } catch (const Error& error) {
    if (!started) throw;
    fail(arguments, error);
  } catch (const std::bad_alloc&) {
    if (!started) throw;
    fail(arguments, Error(ErrorKind::failed, "the recording needs more memory than is available; " +
                                                 memory_limit().text()));
  }
  const bool agrees = agrees_with_reality(arguments, request, outcome, output);
  output.finish_quietly(true, session);
  session.exit_code = exit_code_for(arguments, outcome, signals.requested(), session);
  if (arguments.strict && !agrees) session.exit_code = 1;
}

}  // namespace

void add_record_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("record", "Record the file operations of a program");
  const auto arguments = std::make_shared<RecordArguments>();
  command->add_option("COMMAND", arguments->command, "Program and arguments, after --");
  command->add_option("--pid", arguments->process, "Record a running process until Ctrl-C")
      ->check(in_range(1, 1U << 22));
  add_output_option(*command, "-o,--output", arguments->output, OutputKind::reel,
                    "Reel to write; - for standard output (PROGRAM.reel in this directory)");
  command->add_option("--backend", arguments->backend, "auto, bpf or strace")
      ->capture_default_str();
  command->add_option("--under", arguments->under, "Record only operations below this directory");
  command->add_option("--duration", arguments->duration,
                      "End the recording after this time, such as 30s");
  command->add_option("--grace", arguments->grace, "Time for the program to exit after SIGTERM")
      ->capture_default_str();
  command->add_option(
      "--memory", arguments->memory,
      "Memory limit; events beyond it are dropped and counted (1GB, less where memory "
      "is limited)");
  command->add_flag("--exit-code", arguments->exit_code, "Exit with the exit code of the program");
  command->add_flag("--no-faults", arguments->no_faults,
                    "Do not record page faults of memory-mapped files");
  CLI::Option* check =
      command
          ->add_option("--check", arguments->check,
                       "Compare the recording with the real files: tree, or content too")
          ->capture_default_str();
  command
      ->add_flag("--no-check", arguments->no_check,
                 "Do not compare the recording with the real files")
      ->excludes(check);
  command->add_flag("--strict", arguments->strict,
                    "Exit with 1 if the recording differs from the real files");
  command->add_flag("--all-processors", arguments->all_processors,
                    "Let the program use all CPUs under strace (slower)");
  command->footer(
      "Examples:\n  filereel record -o app.reel -- tar xf linux.tar\n"
      "  filereel record --pid $(pgrep -o mariadbd) --duration 30s --under /var/lib/mysql\n"
      "  filereel show app.reel");
  command->callback([arguments, &session] { record(*arguments, session); });
}

}  // namespace filereel
