#include "tools/signals.h"

#include <cstdint>

#include <errno.h>
#include <unistd.h>

#include "replay/measure/clock.h"
#include "tools/session.h"

namespace filereel {
namespace {

// Sent to the watching thread to end it. Ignored by all others.
constexpr int kEndWatch = SIGURG;

}  // namespace

SignalWatch::SignalWatch() {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&watched_, signal);  // ignored under nohup
  }
  sigaddset(&watched_, SIGCONT);  // it takes effect at once, blocked or not
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  thread_ = std::jthread([this](const std::stop_token& ended) {
    sigset_t awaited = watched_;
    sigaddset(&awaited, kEndWatch);
    pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
    // Programs that signal a process and its group, such as timeout(1), signal it twice.
    constexpr std::uint64_t kSameNs = 200'000'000;
    std::uint64_t first_ns = 0;
    while (!ended.stop_requested()) {
      const int signal = sigwaitinfo(&awaited, nullptr);
      if (signal < 0 || signal == kEndWatch) continue;
      if (signal == SIGCONT) {
        ++continued_;
        continue;
      }
      stop_.request_stop();
      if (first_ns == 0) {
        first_ns = kernel_ns();
      } else if (signal != SIGHUP && kernel_ns() - first_ns > kSameNs) {
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
