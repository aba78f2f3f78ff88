#include "tools/signals.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "tools/session.h"

namespace filereel {

SignalWatch::SignalWatch() {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&watched_, signal);
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  thread_ = std::jthread([this](const std::stop_token& ended) {
    constexpr timespec kLook{0, 50'000'000};  // how soon the end of the watch is seen
    while (!ended.stop_requested()) {
      if (sigtimedwait(&watched_, nullptr, &kLook) < 0) continue;
      if (stop_.stop_requested()) _exit(Session::kInterrupted);
      stop_.request_stop();
    }
  });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace filereel
