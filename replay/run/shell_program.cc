#include "replay/run/shell_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/process.h"
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

}  // namespace filereel
