// Does things at their times: a thread that waits for the next one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace filereel::model_drive {

// So no request keeps a thread while it is served, however many wait. The thread sleeps until
// shortly before the next time and spins for the rest. Usable from any thread.
class Completions {
 public:
  Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();  // as `finish`

  // Calls `done` at `due_ns` of CLOCK_MONOTONIC: before it returns if that is past. Those with the
  // same time are done in the order given.
  void at(std::uint64_t due_ns, std::function<void()> done);

  // Does all that waits at once, and from then on each when it is given.
  void finish();

 private:
  struct Entry {
    std::uint64_t due_ns, order;
    std::function<void()> done;
  };
  // For heaps with the earliest in front.
  static bool later(const Entry& a, const Entry& b) {
    return a.due_ns != b.due_ns ? a.due_ns > b.due_ns : a.order > b.order;
  }

  void work();
  // Until `due_ns`, or until something changes.
  void wait_for(std::uint64_t due_ns, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;  // a heap
  std::uint64_t order_ = 0;
  std::atomic<std::uint64_t> earliest_ns_ = UINT64_MAX;
  std::atomic<bool> finishing_ = false;
  std::thread thread_;  // the last: it uses all others
};

}  // namespace filereel::model_drive
