#include "tools/cli/signals.h"

#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "replay/measure/clock.h"
#include "tools/cli/session.h"
#include "tools/cli/share_watch.h"

namespace filereel {
namespace {

// Sent to the watching thread to end it. Ignored by all others.
constexpr int kEndWatch = SIGURG;

// How long the calling thread waited for a processor so far; nothing: unknown. proc(5)
std::optional<std::uint64_t> waited_for_processor_ns() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::uint64_t ran_ns = 0, waited_ns = 0;
  if (!(file >> ran_ns >> waited_ns)) return std::nullopt;
  return waited_ns;
}

long major_faults() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_majflt;
}

// The wake-ups of a thread that only waits. Neither a signal nor the clocks tell of a frozen
// control group (`docker pause`) or a halted virtual machine: nothing in it runs for a while. The
// thread wakes up too late, but waits neither for a processor nor for a page from a drive.
class WakeUps {
 public:
  static constexpr timespec kWait = {.tv_sec = 0, .tv_nsec = 250'000'000};

  // After each wait: whether nothing ran meanwhile.
  bool missed() {
    const Look last = std::exchange(last_, Look());
    const std::uint64_t late_ns =
        last_.at_ns - last.at_ns - static_cast<std::uint64_t>(kWait.tv_nsec);
    return last_.waited_ns && last.waited_ns && last_.faults == last.faults &&
           last_.at_ns - last.at_ns > kLeastNs + static_cast<std::uint64_t>(kWait.tv_nsec) &&
           late_ns > *last_.waited_ns - *last.waited_ns + kLeastNs;
  }

 private:
  struct Look {
    std::uint64_t at_ns = kernel_ns();
    std::optional<std::uint64_t> waited_ns = waited_for_processor_ns();
    long faults = major_faults();
  };
  static constexpr std::uint64_t kLeastNs = 1'000'000'000;

  Look last_;
};

// A command that was interrupted and has not ended after this time says so.
constexpr std::uint64_t kPatienceNs = 2'000'000'000;

// Everything else may hang in a call that the volume does not answer, or wait for the recorded
// program.
void tell_of_waiting(const std::string& silent) {
  const std::string text =
      silent.empty()
          ? "filereel: interrupted; waiting for what is in progress to end (calls of the "
            "volume, its clean-up, a recorded program); interrupt again to end at once\n"
          : "filereel: interrupted; " + silent + "\n";
  if (isatty(STDERR_FILENO) == 1 && write(STDERR_FILENO, "\n", 1) < 0) return;
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

SignalWatch::SignalWatch(std::vector<std::string> paths) {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&watched_, signal);  // ignored under nohup
  }
  sigaddset(&watched_, SIGCONT);  // it takes effect at once, blocked or not
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  thread_ = std::jthread([this, paths = std::move(paths)](const std::stop_token& ended) {
    sigset_t awaited = watched_;
    sigaddset(&awaited, kEndWatch);
    pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
    // Programs that signal a process and its group, such as timeout(1), signal it twice.
    constexpr std::uint64_t kSameNs = 200'000'000;
    std::uint64_t first_ns = 0;
    WakeUps wake_ups;
    bool told = false;
    while (!ended.stop_requested()) {
      const int signal = sigtimedwait(&awaited, nullptr, &WakeUps::kWait);
      // After a stop, the thread is late, too, but there is a signal.
      if (wake_ups.missed() && signal != SIGCONT) ++continued_;
      if (!told && first_ns != 0 && kernel_ns() - first_ns > kPatienceNs) {
        tell_of_waiting(silent_shares(paths));
        told = true;
      }
      if (signal < 0 || signal == kEndWatch) continue;
      if (signal == SIGCONT) {
        ++continued_;
        continue;
      }
      stop_.request_stop();
      if (first_ns == 0) {
        first_ns = kernel_ns();
      } else if (signal != SIGHUP && kernel_ns() - first_ns > kSameNs) {
        if (const std::string silent = silent_shares(paths); !silent.empty()) {
          tell_of_waiting(silent + "; filereel clean then removes what it has left");
        }
        _exit(Session::kInterrupted);
      }
    }
  });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), kEndWatch);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::uint64_t SignalWatch::continued() const {
  sigset_t pending{};  // not yet taken by the watching thread
  sigpending(&pending);
  return continued_ + (sigismember(&pending, SIGCONT) == 1 ? 1 : 0);
}

void SignalWatch::hang_up() {
  if (sigismember(&watched_, SIGHUP) == 1) stop_.request_stop();
}

}  // namespace filereel
