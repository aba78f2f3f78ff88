// Ctrl-C and friends as a stop token.
#pragma once

#include <stop_token>
#include <thread>

#include <signal.h>

namespace filereel {

// While it lives, SIGINT, SIGTERM and SIGHUP request a stop, so that the work in hand ends tidily.
// A second SIGINT or SIGTERM (200 ms later or more) ends the process at once; the kernel then takes
// down mounts and FUSE drivers. SIGHUP does not: a terminal that closes may send several.
// Threads started meanwhile leave the signals to it. Those that are ignored, as nohup does with
// SIGHUP, stay so.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  bool requested() const { return stop_.stop_requested(); }

  // What was blocked before, and is again when it ends: for programs that are the user's own.
  const sigset_t& blocked_before() const { return before_; }

  // The same as SIGHUP, for who learns otherwise that nobody reads the output any more. On any
  // thread.
  void hang_up();

 private:
  sigset_t watched_;
  sigset_t before_;
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace filereel
