#include <atomic>
#include <cstdint>
#include <thread>

#include <doctest/doctest.h>
#include <sched.h>

#include "replay/measure/clock.h"

namespace filereel {
namespace {

TEST_CASE("processor time of other threads does not count") {
  const std::stop_token never;
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  std::uint64_t used = 0;
  std::atomic<bool> over = false;
  {
    const auto on_one_processor = [&](auto action) {
      return std::jthread([&, action] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        sched_setaffinity(0, sizeof(one), &one);
        action();
      });
    };
    const std::jthread other = on_one_processor([&] {
      while (!over) use_processor(1'000'000, never);
    });
    const std::jthread measured = on_one_processor([&] {
      const std::uint64_t before = thread_cpu_ns();
      use_processor(60'000'000, never);
      used = thread_cpu_ns() - before;
      over = true;
    });
  }
  // Not exactly: interrupts count, and the kernel may leave them out of the thread's time.
  CHECK(used >= 40'000'000);
}

TEST_CASE("a requested stop ends the work") {
  std::stop_source stop;
  stop.request_stop();
  use_processor(UINT64_MAX, stop.get_token());
}

}  // namespace
}  // namespace filereel
