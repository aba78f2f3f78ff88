#include "replay/measure/clock.h"

#include <fstream>
#include <string>

namespace filereel {
namespace {

constexpr std::uint64_t kCalibrationNs = 5'000'000;
constexpr const char* kClockSource =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// Only the kernel knows whether the counter runs at a constant rate and in sync on all processors.
bool kernel_counts_ticks() {
  std::ifstream in(kClockSource);
  std::string name;
  return std::getline(in, name) && !name.empty() && name == kTickSource;
}

struct Reading {
  std::uint64_t ticks, ns;
};

// Reads both clocks at the same time: the best of several attempts, because any may be interrupted.
Reading read_both() {
  Reading best{};
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t before = read_ticks();
    const std::uint64_t ns = kernel_ns();
    const std::uint64_t took = read_ticks() - before;
    if (took < least) {
      least = took;
      best = {before + took / 2, ns};
    }
  }
  return best;
}

}  // namespace

Clock::Clock() {
  if (!kernel_counts_ticks()) return;
  const Reading first = read_both();
  const timespec pause{0, kCalibrationNs};
  nanosleep(&pause, nullptr);
  const Reading second = read_both();
  const std::uint64_t ticks = second.ticks - first.ticks;
  if (second.ticks <= first.ticks || second.ns <= first.ns) return;
  base_ticks_ = first.ticks;
  base_ns_ = first.ns;
  ns_per_tick_ = static_cast<std::uint64_t>(
      (static_cast<unsigned __int128>(second.ns - first.ns) << kShift) / ticks);
}

}  // namespace filereel
