#include "replay/measure/processor_time.h"

#include "replay/measure/clock.h"

namespace filereel {
namespace {

// The loop reads the stopwatch every 30 ns. In a longer gap, another thread had the processor;
// interrupts take less, and are part of the work of recorded programs, too. thread_cpu_ns() would
// take half a microsecond.
constexpr std::uint64_t kLongestInterruptNs = 20'000;

}  // namespace

// Without a hint to the processor: a program that computes does not give way to its neighbours.
void use_processor(std::uint64_t ns, const std::stop_token& stop) noexcept {
  std::uint64_t last = now_ns();
  for (std::uint64_t used = 0; used < ns && !stop.stop_requested();) {
    const std::uint64_t now = now_ns();
    if (now - last < kLongestInterruptNs) used += now - last;
    last = now;
  }
}

}  // namespace filereel
