#include "replay/schedule/pacing.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kOrders = {"strict", "resource", "thread"};
constexpr double kSlowest = 1e-6, kFastest = 1e6;
// Shorter pauses are skipped.
constexpr std::uint64_t kShortestPauseNs = 1000;
constexpr std::uint64_t kLongestNs = 1ULL << 62;  // 146 years; sums stay in range

double parse_speed(std::string_view factor, std::string_view whole) {
  double speed = 0;
  const auto [end, error] = std::from_chars(factor.data(), factor.data() + factor.size(), speed);
  if (error != std::errc() || std::string_view(end, factor.data() + factor.size()) != "x" ||
      !(speed >= kSlowest && speed <= kFastest)) {
    constexpr std::array<std::string_view, 3> kPaces = {"asap", "natural", "think"};
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

bool Pacing::add(const RecordedOperation& recorded, Operation& pace) {
  if (pace_.kind == Pace::Kind::asap) return false;
  pace.kind = OperationKind::pace;
  pace.thread = recorded.operation.thread;
  pace.position = recorded.operation.position;
  if (pace_.kind == Pace::Kind::think) return think(recorded, pace);
  pace.flags = pace_flags::kFromStart;
  pace.offset = scaled(recorded.start_ns);
  return pace.offset > 0;
}

bool Pacing::think(const RecordedOperation& recorded, Operation& pace) {
  Thread& thread = threads_[recorded.operation.thread];
  const bool first = !thread.begun;
  const std::uint64_t begin = thread.end_ns;
  thread.begun = true;
  thread.end_ns = recorded.start_ns + recorded.duration_ns;
  const std::uint64_t child = recorded.operation.second;
  if (recorded.operation.kind == OperationKind::fork && child < threads_.size()) {
    threads_[child].end_ns = thread.end_ns;
    threads_[child].forked = true;
  }
  // A thread without a fork starts at its recorded time. A forked thread starts after a pause from
  // the completion of its fork, for which the lane has just waited.
  pace.flags = !first          ? pace_flags::kFromLastEnd
               : thread.forked ? pace_flags::kFromNow
                               : pace_flags::kFromStart;
  std::uint64_t pause = recorded.start_ns - std::min(begin, recorded.start_ns);
  if (pace.flags != pace_flags::kFromStart) pause -= std::min(pause, recorder_ns_);
  pace.offset = scaled(pause);
  return pace.offset > kShortestPauseNs;
}

}  // namespace filereel
