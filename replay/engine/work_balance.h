// Balances the work of a replayed thread with that of the recorded one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace filereel {

// The recorded thread used the processor between its calls. So does the replay: it looks for the
// next operation, generates content and compares results. Both are work, so this time of the replay
// counts as a part of the recorded work, and only the rest remains to be done. What the replay
// needs in excess is subtracted from later work, up to a limit: a thread that waits for a processor
// is not working. All times are nanoseconds of the stopwatch; `calls` is the time spent in calls so
// far.
class WorkBalance {
 public:
  // Work starts here; nothing is owed.
  void begin(std::uint64_t now, std::uint64_t calls) {
    owed_ns_ = 0;
    skip(now, calls);
  }
  // The time since the last function of this class was called was a wait.
  void skip(std::uint64_t now, std::uint64_t calls) {
    until_ns_ = now;
    calls_ns_ = calls;
  }
  // It was work, except for the calls.
  void settle(std::uint64_t now, std::uint64_t calls) {
    const auto passed = static_cast<std::int64_t>(now - until_ns_);
    const auto called = static_cast<std::int64_t>(calls - calls_ns_);
    owed_ns_ = std::max(owed_ns_ - std::max<std::int64_t>(passed - called, 0), -kMostInExcessNs);
    skip(now, calls);
  }
  void owe(std::uint64_t ns) { owed_ns_ += static_cast<std::int64_t>(ns); }
  // Work that was done in time that was skipped.
  void done(std::uint64_t ns) { owed_ns_ -= static_cast<std::int64_t>(ns); }
  // Negative: in excess.
  std::int64_t owed_ns() const { return owed_ns_; }

 private:
  static constexpr std::int64_t kMostInExcessNs = 200'000;

  std::uint64_t until_ns_ = 0, calls_ns_ = 0;
  std::int64_t owed_ns_ = 0;
};

}  // namespace filereel
