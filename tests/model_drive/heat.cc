#include "tests/model_drive/heat.h"

#include "filesets/system/random.h"

namespace filereel::model_drive {
namespace {

// Beyond this nothing is left that a double could show.
constexpr double kMostHalvings = 200;
constexpr double kLn2 = 0.693147180559945309;

// In units of exp(-x).
double decays(std::uint64_t ns, std::uint64_t half_time_ns) {
  return kLn2 * static_cast<double>(ns) / static_cast<double>(half_time_ns);
}

// What is left of a difference after so many decays.
double left_after(double decays) {
  return decays > kLn2 * kMostHalvings ? 0 : portable_exp(-decays);
}

// What is left at the end, of what came evenly over so many decays.
double left_of_even(double decays) {
  constexpr double kTooFewToSubtract = 1e-5;
  return decays < kTooFewToSubtract ? 1 - decays / 2 : (1 - left_after(decays)) / decays;
}

}  // namespace

Heat::Heat(const Temperature& script, std::uint64_t now_ns)
    : script_(script), time_ns_(now_ns), celsius_(script.idle) {}

bool Heat::throttles(std::uint64_t begin_ns) {
  cool_until(begin_ns);
  return is_throttled_;
}

void Heat::add(std::uint64_t bytes, std::uint64_t begin_ns, std::uint64_t end_ns) {
  cool(end_ns);
  // At the rate `at`, the time in which so many bytes come balances what they warm.
  constexpr double kNsPerSecond = 1e9;
  const double balanced_ns =
      static_cast<double>(bytes) / static_cast<double>(script_.at) * kNsPerSecond;
  const double gain = (script_.hottest - script_.idle) * kLn2 * balanced_ns /
                      static_cast<double>(script_.half_time_ns);
  celsius_ += gain * left_of_even(decays(end_ns - begin_ns, script_.half_time_ns));
  check_limits();
}

void Heat::replace(const Temperature& script) {
  script_ = script;
  check_limits();
}

void Heat::cool_until(std::uint64_t time_ns) {
  cool(time_ns);
  check_limits();
}

void Heat::cool(std::uint64_t time_ns) {
  if (time_ns <= time_ns_) return;
  const double left = left_after(decays(time_ns - time_ns_, script_.half_time_ns));
  celsius_ = script_.idle + (celsius_ - script_.idle) * left;
  time_ns_ = time_ns;
}

void Heat::check_limits() {
  if (celsius_ >= script_.throttle.above) is_throttled_ = true;
  if (celsius_ < script_.throttle.below) is_throttled_ = false;
}

}  // namespace filereel::model_drive
