// How warm the drive is.
#pragma once

#include <cstdint>

#include "tests/model_drive/script.h"

namespace filereel::model_drive {

// Each byte that is transferred warms the drive, evenly over its transfer; at any time the drive
// cools towards `idle`, and has half of the way left after `half_time`. So transfers at the rate
// `at` without a pause approach `hottest`, those of half this rate the middle, and those at the
// same time add up.
//
// Its time never goes back: what begins before the end of a transfer that was added finds the
// temperature of this end.
class Heat {
 public:
  // Idle at first.
  Heat(const Temperature& script, std::uint64_t now_ns);

  // Whether a transfer that begins then is throttled: from a temperature of `above` on, until one
  // below `below`. Both are looked for at the begin and at the end of each transfer.
  bool throttles(std::uint64_t begin_ns);
  void add(std::uint64_t bytes, std::uint64_t begin_ns, std::uint64_t end_ns);

  void cool_until(std::uint64_t time_ns);

  // By this script from now on, from the same temperature.
  void replace(const Temperature& script);

  // Degrees Celsius, at the latest time that was given.
  double celsius() const { return celsius_; }

 private:
  void cool(std::uint64_t time_ns);
  void check_limits();

  Temperature script_;
  std::uint64_t time_ns_;
  double celsius_;
  bool is_throttled_ = false;
};

}  // namespace filereel::model_drive
