#include "replay/schedule/pacing.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kOrders = {"strict", "resource", "thread"};
constexpr std::array<std::string_view, 3> kPaces = {"asap", "natural", "think"};
constexpr double kSlowest = 1e-6, kFastest = 1e6;
// Shorter pauses are added to the next one.
constexpr std::uint64_t kShortestPauseNs = 1000;
constexpr std::uint64_t kLongestNs = 1ULL << 62;  // 146 years; sums stay in range

double parse_speed(std::string_view factor, std::string_view whole) {
  double speed = 0;
  if (!take_number(factor, speed) || factor != "x" || !(speed >= kSlowest && speed <= kFastest)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("invalid pace '{}': expected asap, natural, think, a factor such as 2x or "
                    "0.5x, or think/2x{}",
                    printable(whole), did_you_mean(whole, kPaces)));
  }
  return speed;
}

}  // namespace

std::string_view order_name(Order order) {
  return kOrders[static_cast<std::size_t>(order)];
}

std::span<const std::string_view> order_names() {
  return kOrders;
}

Order parse_order(std::string_view name) {
  for (std::size_t i = 0; i < kOrders.size(); ++i) {
    if (kOrders[i] == name) return static_cast<Order>(i);
  }
  throw Error(ErrorKind::usage,
              fmt::format("unknown order '{}'{}", printable(name), use_one_of(name, kOrders)));
}

Pace parse_pace(std::string_view text) {
  using Kind = Pace::Kind;
  if (text == "asap") return {Kind::asap, 1};
  if (text == "natural") return {Kind::natural, 1};
  if (text == "think") return {Kind::think, 1};
  constexpr std::string_view kThink = "think/";
  if (text.starts_with(kThink)) {
    return {Kind::think, parse_speed(text.substr(kThink.size()), text)};
  }
  return {Kind::natural, parse_speed(text, text)};
}

std::span<const std::string_view> pace_names() {
  return kPaces;
}

std::string pace_name(const Pace& pace) {
  switch (pace.kind) {
    case Pace::Kind::asap:
      return "asap";
    case Pace::Kind::natural:
      return pace.speed == 1 ? "natural" : fmt::format("{}x", pace.speed);
    case Pace::Kind::think:
      break;
  }
  return pace.speed == 1 ? "think" : fmt::format("think/{}x", pace.speed);
}

std::uint64_t Pacing::scaled(std::uint64_t ns) const {
  if (pace_.speed == 1) return std::min(ns, kLongestNs);
  const double result = static_cast<double>(ns) / pace_.speed;
  return result >= static_cast<double>(kLongestNs) ? kLongestNs
                                                   : static_cast<std::uint64_t>(result);
}

bool Pacing::add(RecordedOperation& recorded, Operation& pace) {
  if (pace_.kind == Pace::Kind::asap) return false;
  pace.kind = OperationKind::pace;
  pace.thread = recorded.operation.thread;
  pace.position = recorded.operation.position;
  if (pace_.kind == Pace::Kind::think) {
    const bool due = think(recorded, pace);
    if (recorded.operation.kind == OperationKind::wait) {
      recorded.operation.length = scaled(recorded.operation.length);
    }
    return due;
  }
  if (recorded.operation.kind == OperationKind::wait) recorded.operation.length = 0;
  pace.flags = pace_flags::kFromStart;
  pace.offset = scaled(recorded.start_ns);
  return pace.offset > 0;
}

bool Pacing::think(const RecordedOperation& recorded, Operation& pace) {
  const OperationKind kind = recorded.operation.kind;
  Thread& thread = threads_[recorded.operation.thread];
  const bool first = !thread.begun;
  const std::uint64_t end = recorded.start_ns + std::min(recorded.duration_ns, kLongestNs);
  const std::uint64_t worked_until = is_timed(kind) ? recorded.start_ns : end;
  const std::uint64_t work = worked_until - std::min(thread.until_ns, worked_until);
  thread.until_ns = std::max(thread.until_ns, end);
  const std::uint64_t child = recorded.operation.second;
  if (kind == OperationKind::fork && child < threads_.size()) {
    threads_[child].until_ns = end;
    threads_[child].forked = true;
  }
  if (first && !thread.forked) {  // starts at its recorded time
    thread.begun = true;
    pace.flags = pace_flags::kFromStart;
    pace.offset = scaled(work);
    return pace.offset > kShortestPauseNs;
  }
  // A forked thread starts after its fork, for which the lane has just waited.
  pace.flags = waits_ ? (first ? pace_flags::kFirstWork : pace_flags::kWork)
                      : (first ? pace_flags::kFromNow : pace_flags::kFromLastEnd);
  thread.work_ns += static_cast<std::int64_t>(std::min(work, kLongestNs));
  if (!waits_) thread.work_ns -= static_cast<std::int64_t>(recorder_ns_);
  if (kind == OperationKind::wait && recorded.operation.flags == wait_flags::kForRecorder) {
    thread.work_ns -= static_cast<std::int64_t>(std::min(recorded.operation.length, kLongestNs));
  }
  if (thread.work_ns <= 0) return false;
  pace.offset = scaled(static_cast<std::uint64_t>(thread.work_ns));
  if (pace.offset <= kShortestPauseNs) return false;
  thread.work_ns = 0;
  thread.begun = true;
  return true;
}

}  // namespace filereel
