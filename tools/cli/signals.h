// SIGINT, SIGTERM and SIGHUP as a stop token.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>

namespace filereel {

// During its lifetime, counts SIGCONT, with which a stopped process goes on, and times of a second
// or more in which nothing ran, as in a frozen control group. SIGINT, SIGTERM and SIGHUP request a
// stop, so that current work ends cleanly. A second SIGINT or SIGTERM (200 ms later or more) ends
// the process at once; the kernel then removes mounts and FUSE drivers. A second SIGHUP does not,
// because a closing terminal may send several. Threads started meanwhile have these signals
// blocked. Ignored signals, such as SIGHUP under nohup, stay ignored.
//
// If the command has not ended 2 s after the first signal, a line says what it waits for. A process
// that waits for a share that does not respond cannot be ended: then the line, and another one
// after the second signal, says what ends it.
class SignalWatch {
 public:
  // `paths`: what the command works on.
  explicit SignalWatch(std::vector<std::string> paths = {});
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  bool requested() const { return stop_.stop_requested(); }

  // The signal mask from before, restored by the destructor. Recorded programs get this mask.
  const sigset_t& blocked_before() const { return before_; }

  // How often the process was continued after a stop or a freeze. Thread-safe.
  std::uint64_t continued() const;

  // Same effect as SIGHUP, for callers that notice a closed output. Thread-safe.
  void hang_up();

 private:
  sigset_t watched_;
  sigset_t before_;
  std::stop_source stop_;
  std::atomic<std::uint64_t> continued_ = 0;
  std::jthread thread_;
};

}  // namespace filereel
