// The times of strace's lines on a monotonic clock that starts with the first line.
#pragma once

#include <cstdint>

#include "traces/import/strace_lexer.h"

namespace filereel {

class StraceClock {
 public:
  // A longer span, in nanoseconds, means that the text is invalid.
  static constexpr std::uint64_t kLongest = 366 * 24 * 3'600'000'000'000;

  // The time of the line with this stamp, in nanoseconds since the first line with a time; 0 before
  // that line.
  std::uint64_t at(const StraceStamp& stamp);

  bool timed() const { return timed_; }                            // any line had a time
  bool whole_seconds() const { return timed_ && whole_seconds_; }  // no line had more than that
  std::uint64_t now() const { return now_; }                       // of the last line
  // Time of the first line, if its date is known: nanoseconds since 1970; otherwise 0.
  std::uint64_t began() const { return began_; }

 private:
  std::uint64_t step(const StraceStamp& stamp);

  std::uint64_t now_ = 0;
  std::uint64_t last_ = 0;  // time in the last line that had one
  bool timed_ = false, whole_seconds_ = true;
  bool past_midnight_ = false;  // the last line of the day before has been seen
  std::uint64_t began_ = 0;
};

}  // namespace filereel
