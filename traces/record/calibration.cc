#include "traces/record/calibration.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace filereel {
namespace {

constexpr int kRounds = 20, kCalibrationCalls = 500;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double time_calls(int file) {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now();
    char byte = 0;
    for (int i = 0; i < kCalibrationCalls; ++i) {
      if (pread(file, &byte, 1, 0) != 1) return 0;
    }
    best = std::min(best, (now() - begin) / kCalibrationCalls);
  }
  return best;
}

// The measured process: sends one figure for each byte received.
[[noreturn]] void answer(int line) {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  for (char asked = 0; read(line, &asked, 1) == 1;) {
    const double figure = time_calls(file);
    if (write(line, &figure, sizeof(figure)) != sizeof(figure)) break;
  }
  _exit(0);
}

}  // namespace

Calibration::Calibration() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  line_.reset(ends[0]);
  const Descriptor other(ends[1]);
  pid_ = fork();
  if (pid_ != 0) return;
  line_.reset();
  answer(other.get());
}

Calibration::~Calibration() {
  line_.reset();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

double Calibration::nanoseconds_per_call() {
  double figure = 0;
  const bool answered = pid_ > 0 && write(line_.get(), "?", 1) == 1 &&
                        recv(line_.get(), &figure, sizeof(figure), MSG_WAITALL) ==
                            static_cast<ssize_t>(sizeof(figure));
  return answered ? figure : 0;
}

}  // namespace filereel
