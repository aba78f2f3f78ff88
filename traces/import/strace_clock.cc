#include "traces/import/strace_clock.h"

#include <algorithm>

namespace filereel {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000'000;
constexpr std::uint64_t kEnd = std::uint64_t{1} << 62;

}  // namespace

std::uint64_t StraceClock::step(const StraceStamp& stamp) {
  const std::uint64_t before = last_;
  const bool absolute = stamp.kind != StraceStamp::Kind::none;
  const bool day = stamp.kind == StraceStamp::Kind::day;
  // Threads write concurrently: a line of the day before may come after midnight.
  if (day && past_midnight_ && before < kHour && stamp.at_ns > 23 * kHour) return 0;
  if (absolute) last_ = stamp.at_ns;
  if (!timed_) return 0;
  if (stamp.since_last_ns && (!absolute || stamp.whole_seconds)) return *stamp.since_last_ns;
  if (stamp.at_ns >= before) return stamp.at_ns - before;
  if (day && before - stamp.at_ns > 12 * kHour) {
    past_midnight_ = true;
    return stamp.at_ns + 24 * kHour - before;
  }
  return 0;  // the clock was set back
}

std::uint64_t StraceClock::at(const StraceStamp& stamp) {
  const bool absolute = stamp.kind != StraceStamp::Kind::none;
  if (!absolute && !stamp.since_last_ns) return now_;
  if (!timed_ && stamp.kind == StraceStamp::Kind::epoch) began_ = stamp.at_ns;
  if (stamp.since_last_ns || !stamp.whole_seconds) whole_seconds_ = false;
  const std::uint64_t passed = step(stamp);
  timed_ = true;
  if (passed <= kLongest) now_ = std::min(now_ + passed, kEnd);
  return now_;
}

}  // namespace filereel
