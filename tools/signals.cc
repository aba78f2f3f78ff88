#include "tools/signals.h"

#include <cstdint>

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "replay/measure/clock.h"
#include "tools/session.h"

namespace filereel {

SignalWatch::SignalWatch() {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&watched_, signal);  // ignored under nohup
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  thread_ = std::jthread([this](const std::stop_token& ended) {
    constexpr timespec kLook{0, 50'000'000};  // how soon the end of the watch is seen
    // What signals a process and its group, as timeout(1) does, signals it twice.
    constexpr std::uint64_t kSameNs = 200'000'000;
    std::uint64_t first_ns = 0;
    while (!ended.stop_requested()) {
      if (sigtimedwait(&watched_, nullptr, &kLook) < 0) continue;
      if (!stop_.stop_requested()) {
        first_ns = kernel_ns();
        stop_.request_stop();
      } else if (kernel_ns() - first_ns > kSameNs) {
        _exit(Session::kInterrupted);
      }
    }
  });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace filereel
