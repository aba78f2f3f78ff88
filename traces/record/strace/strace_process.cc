// strace attaches from outside (-p) also to programs that filereel starts. So the program is
// filereel's child, whose end and exit status it learns, and strace can release it at any time
// (detach). Processes count as attached when strace has written a line for each.
//
// The pipe is the queue: a full one blocks strace and with it the program, so nothing is lost and
// no memory is needed. Therefore the reader of the pipe must not wait for the program while strace
// may be writing.
#include "traces/record/strace/strace_process.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "traces/calls/call_table.h"
#include "traces/calls/known_calls.h"

namespace filereel {
namespace {

constexpr int kPipeBytes = 1 << 20;

// Appends a call to the list after "trace=" or "abbrev="; "?" accepts calls unknown to this strace.
void add_name(std::string& list, std::string_view name) {
  list += list.ends_with('=') || list.ends_with('!') ? "?" : ",?";
  list += name;
}

// Since 5.9. Without it, processes that a program starts in a namespace of its own, as `unshare
// --pid` does, appear under two numbers.
bool translates_processes() {
  constexpr double kSeconds = 5;
  return ChildProcess({"strace", "--pidns-translation", "--version"}).wait(kSeconds) == 0;
}

std::vector<std::string> strace_command(const std::vector<std::uint32_t>& processes, int output) {
  // All except harmless ones: new calls are counted.
  std::string traced = "trace=!", whole = "abbrev=!";
  for (const HarmlessCall& call : harmless_calls()) add_name(traced, call.name);
  for (const CallRow& call : call_rows()) {
    const bool has_buffers = call.has(Argument::buffers);
    if (has_buffers || call.call == Call::submit || call.call == Call::complete) {
      add_name(whole, call.name);
    }
  }
  // Those that stop a program, or can end it with a core dump.
  const char* const signals =
      "signal=SIGSTOP,SIGTSTP,SIGTTIN,SIGTTOU,SIGCONT,"
      "SIGQUIT,SIGILL,SIGTRAP,SIGABRT,SIGBUS,SIGFPE,SIGSEGV,SIGXCPU,SIGXFSZ,SIGSYS";
  std::vector<std::string> command = {
      "strace", "-f",
      "-I",     "anywhere",  // signals end it immediately, see detach
      "-ttt",                // start of calls, in microseconds
      "-T",                  // duration of calls
      "-y",                  // paths of descriptors
      "-s",     "256",       // complete attribute names; no transferred data
      "-e",     traced,
      "-e",     whole,  // all buffers of a call
      "-e",     signals,
      "-o",     fmt::format("/proc/self/fd/{}", output),
      "-p",     fmt::format("{}", fmt::join(processes, ","))};
  if (translates_processes()) command.insert(command.begin() + 1, "--pidns-translation");
  return command;
}

std::string first_complaint(const std::string& said) {
  constexpr std::string_view kName = "strace: ";
  const std::string line = said.substr(0, said.find('\n'));
  return printable(line.starts_with(kName) ? line.substr(kName.size()) : line);
}

}  // namespace

void allow_tracing() {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

StraceProcess::StraceProcess(const std::vector<std::uint32_t>& processes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(ErrorKind::failed, fmt::format("cannot create a pipe: {}", error_text(errno)));
  }
  output_.reset(ends[0]);
  const Descriptor input(ends[1]);
  fcntl(input.get(), F_SETPIPE_SZ, kPipeBytes);
  fcntl(input.get(), F_SETFD, 0);
  child_.emplace(strace_command(processes, input.get()));
  wait_until_attached(processes);
}

void StraceProcess::wait_until_attached(const std::vector<std::uint32_t>& processes) {
  constexpr int kLooks = 10'000;
  const std::uint32_t first = processes.front();
  for (int look = 0; look < kLooks; ++look) {
    const bool ended = child_->wait(0).has_value();
    const std::string said = child_->output();
    // One line per process, in order. Processes that ended meanwhile are not missed.
    const auto lines = static_cast<std::size_t>(std::ranges::count(said, '\n'));
    if (ended || lines >= processes.size()) {
      if (!ended && said.contains(fmt::format("Process {} attached", first))) return;
      throw Error(ErrorKind::failed,
                  fmt::format("strace cannot attach to process {}: {}; check that it is running, "
                              "is yours and is not traced already",
                              first, first_complaint(said)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw Error(
      ErrorKind::failed,
      fmt::format("strace could not stop process {} within 10 s: it is waiting for a device "
                  "or ending; try again later",
                  first));
}

// strace's normal exit waits for each process to stop. For a process in vfork it waits for ever,
// because the child that would resume it is stopped, too. If strace is killed instead, the kernel
// releases all. The same happens when filereel is killed and the pipe breaks.
void StraceProcess::detach() const {
  kill(pid(), SIGTERM);
}

}  // namespace filereel
