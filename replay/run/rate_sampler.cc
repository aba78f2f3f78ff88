#include "replay/run/rate_sampler.h"

#include <chrono>

#include "replay/measure/clock.h"
#include "replay/results/packed.h"

namespace filereel {
namespace {

constexpr std::uint64_t kIntervalNs = 500'000'000;

}  // namespace

RateSampler::RateSampler(const ReplayProgress& progress)
    : progress_(progress), thread_([this] { work(); }) {}

void RateSampler::work() {
  constexpr std::chrono::milliseconds kUntilStart(5);
  std::unique_lock lock(mutex_);
  const auto wait = [&](std::chrono::nanoseconds time) {
    return wake_.wait_for(lock, time, [this] { return ended_; });
  };
  std::uint64_t start_ns = 0;
  while ((start_ns = progress_.times_and_bytes().times.measured_ns) == 0) {
    if (wait(kUntilStart)) return;
  }
  std::uint64_t last_ns = start_ns, last_bytes = 0;  // of the last look
  std::uint64_t due_ns = start_ns + kIntervalNs, counted = 0;
  while (true) {
    const std::uint64_t now = now_ns();
    if (now < due_ns) wait(std::chrono::nanoseconds(due_ns - now));
    const ProgressSnapshot look = progress_.times_and_bytes();
    const std::uint64_t look_ns = look.times.end_ns > 0 ? look.times.end_ns : now_ns();
    for (; due_ns <= look_ns; due_ns += kIntervalNs) {
      const double share =
          static_cast<double>(due_ns - last_ns) / static_cast<double>(look_ns - last_ns);
      const auto more =
          static_cast<std::uint64_t>(share * static_cast<double>(look.bytes - last_bytes));
      bytes_.push_back(last_bytes + more - counted);
      counted = last_bytes + more;
    }
    if (ended_ || look.times.end_ns > 0) return;
    last_ns = look_ns;
    last_bytes = look.bytes;
  }
}

void RateSampler::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

RateSeries RateSampler::series() {
  end();
  return {.interval_s = static_cast<double>(kIntervalNs) * 1e-9,
          .intervals = bytes_.size(),
          .bytes = pack_numbers(bytes_)};
}

}  // namespace filereel
