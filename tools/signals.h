// Ctrl-C and friends as a stop token.
#pragma once

#include <stop_token>
#include <thread>

#include <signal.h>

namespace filereel {

// While it lives, SIGINT, SIGTERM and SIGHUP request a stop, so that the work in hand ends tidily.
// A second one (200 ms later or more) ends the process at once; the kernel then takes down mounts
// and FUSE drivers.
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

 private:
  sigset_t watched_;
  sigset_t before_;
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace filereel
