#include "replay/measure/processor_time.h"

#include <sys/resource.h>

#include "replay/measure/clock.h"

namespace filereel {
namespace {

// The loop reads the stopwatch every 30 ns. In a longer gap, something else had the processor.
constexpr std::uint64_t kLongGapNs = 20'000;

// How often the calling thread had to leave its processor to another thread.
long times_preempted() noexcept {
  rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

}  // namespace

// Without a hint to the processor: a program that computes does not give way to its neighbours.
// Interrupts, and times when a hypervisor runs something else, are part of the work of recorded
// programs, so they count here, too. The processor time of the thread would leave out the latter.
void use_processor(std::uint64_t ns, const std::stop_token& stop) noexcept {
  std::uint64_t last = now_ns();
  long preempted = ns > kLongGapNs ? times_preempted() : 0;
  for (std::uint64_t used = 0; used < ns && !stop.stop_requested();) {
    const std::uint64_t now = now_ns();
    bool counts = true;
    if (now - last >= kLongGapNs && ns > kLongGapNs) [[unlikely]] {
      const long times = times_preempted();
      counts = times == preempted;
      preempted = times;
    }
    if (counts) used += now - last;
    last = now;
  }
}

}  // namespace filereel
