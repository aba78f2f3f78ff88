#include "filesets/system/run_apart.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/process.h"

namespace filereel {
namespace {

// Precedes the text, which may be empty: a child that died has sent nothing.
constexpr char kAnswer = 'a';

// All but one, so that nobody waits for the child at the other end of a pipe, or for its locks.
void close_others(int kept) {
  constexpr unsigned kLast = ~0U;
  const auto one = static_cast<unsigned>(kept);
  if (one > 0) syscall(SYS_close_range, 0U, one - 1, 0U);
  syscall(SYS_close_range, one + 1, kLast, 0U);
}

[[noreturn]] void answer(const std::function<std::string()>& work, int pipe, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  close_others(pipe);
  try {
    const std::string text = kAnswer + work();
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t size = write(pipe, text.data() + sent, text.size() - sent);
      if (size < 0 && errno != EINTR) _exit(1);
      sent += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    }
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

// Whether there is something to read, or the end, within the time.
bool is_readable(int pipe, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    const double left_ms = std::chrono::duration<double, std::milli>(end - Clock::now()).count();
    pollfd one{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = poll(&one, 1, std::max(0, static_cast<int>(left_ms)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::string read_all(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = read(pipe, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

std::optional<std::string> run_apart(const std::function<std::string()>& work, double patience_s,
                                     const std::function<bool()>& waits_on) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return work();
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) answer(work, writing.get(), parent);
  if (child < 0) return work();
  writing.reset();
  bool answered = false;
  do {
    answered = is_readable(reading.get(), patience_s);
  } while (!answered && waits_on && waits_on());
  if (!answered) {
    constexpr double kMoment_s = 0.05;  // for one that can be killed
    kill(child, SIGKILL);
    wait_for(child, kMoment_s);
    return std::nullopt;
  }
  const std::string text = read_all(reading.get());
  constexpr double kEnd_s = 10;
  wait_for(child, kEnd_s);
  return text.starts_with(kAnswer) ? std::optional(text.substr(1)) : std::nullopt;
}

}  // namespace filereel
