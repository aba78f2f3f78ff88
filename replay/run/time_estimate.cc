#include "replay/run/time_estimate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr double kWorthTelling = 10;    // seconds
constexpr double kWorthCorrecting = 5;  // seconds left
constexpr double kCloseEnough = 0.15;   // share of what was told

}  // namespace

double creation_seconds(const FileSetTotals& totals) {
  constexpr double kFileWeight = 64 << 10;
  return (static_cast<double>(totals.bytes) + static_cast<double>(totals.files) * kFileWeight) /
         kAssumedRate;
}

void TimeEstimate::Lap::add(double seconds) {
  before_s = count == 0 ? seconds : last_s;
  last_s = seconds;
  ++count;
}

double TimeEstimate::Lap::mean() const {
  return std::midpoint(last_s, before_s);
}

double TimeEstimate::Unit::seconds() const {
  double sum = 0;
  for (const Lap& lap : laps) sum += lap.mean();
  return sum;
}

TimeEstimate::TimeEstimate(const std::vector<EstimatedPart>& parts, std::size_t sides,
                           double before_s, std::uint64_t began_ns, Nanoseconds clock)
    : sides_(sides),
      clock_(std::move(clock)),
      began_ns_(began_ns),
      lap_ns_(clock_()),
      before_s_(before_s) {
  for (const EstimatedPart& one : parts) {
    parts_.push_back({.plan = one, .units = std::vector<Unit>(one.points * sides)});
  }
  later_s_ = pending_s();
}

void TimeEstimate::begin_part(std::size_t part) {
  part_ = part;
  before_s_ = 0;
  lap_ns_ = clock_();
}

void TimeEstimate::set_runs(double runs) {
  parts_[part_].plan.runs = runs;
  later_s_ = pending_s();
}

void TimeEstimate::begin_unit(std::uint64_t point, std::size_t side) {
  unit_ = point * sides_ + side;
  lap_ = 0;
  assumed_.clear();
  ++parts_[part_].units[unit_].begun;
  later_s_ = pending_s();
}

void TimeEstimate::prepared(const std::vector<Step>& steps) {
  for (const Step& step : steps) assumed_.push_back(step.expected);
  std::vector<Lap>& laps = parts_[part_].units[unit_].laps;
  if (laps.size() != steps.size() + 1) laps.assign(steps.size() + 1, {});
  end_lap();
}

void TimeEstimate::step_ended() {
  end_lap();
  Part& part = parts_[part_];
  Unit& unit = part.units[unit_];
  if (lap_ < unit.laps.size()) return;
  ++unit.ended;
  const double waits = std::transform_reduce(assumed_.begin(), assumed_.end(), 0.0, std::plus<>(),
                                             [](const ExpectedTime& step) { return step.waits_s; });
  part.measured_s += std::max(0.0, unit.seconds() - waits);
  part.assumed_s += part.plan.unit.work_s;
}

void TimeEstimate::end_part() {
  parts_[part_].plan.runs = parts_[part_].units.front().begun;  // the same of all
  assumed_.clear();
  later_s_ = pending_s();
}

void TimeEstimate::end_lap() {
  const std::uint64_t now = clock_();
  parts_[part_].units[unit_].laps[lap_++].add(static_cast<double>(now - lap_ns_) * 1e-9);
  lap_ns_ = now;
}

double TimeEstimate::factor(const Part& part) const {
  if (part.assumed_s > 0) return part.measured_s / part.assumed_s;
  double measured = 0, assumed = 0;
  for (const Part& other : parts_) {
    measured += other.measured_s;
    assumed += other.assumed_s;
  }
  return assumed > 0 ? measured / assumed : 1;
}

const TimeEstimate::Unit* TimeEstimate::similar(std::size_t part, std::size_t unit) const {
  const std::size_t first = unit / sides_ * sides_;
  const auto among = [&](const Part& other) -> const Unit* {
    if (other.units[unit].ended > 0) return &other.units[unit];
    for (std::size_t side = 0; side < sides_; ++side) {
      if (other.units[first + side].ended > 0) return &other.units[first + side];
    }
    return nullptr;
  };
  if (const Unit* const here = among(parts_[part])) return here;
  for (const Part& other : parts_) {
    if (other.plan.job != parts_[part].plan.job) continue;
    if (const Unit* const there = among(other)) return there;
  }
  return nullptr;
}

double TimeEstimate::unit_s(std::size_t part, std::size_t unit) const {
  if (const Unit* const known = similar(part, unit)) return known->seconds();
  const ExpectedTime& assumed = parts_[part].plan.unit;
  return assumed.waits_s + factor(parts_[part]) * assumed.work_s;
}

double TimeEstimate::pending_s() const {
  double all = 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto& [plan, units, measured_s, assumed_s] = parts_[part];
    double once = 0, pending = 0;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const double seconds = unit_s(part, unit);
      once += seconds;
      pending += seconds * std::max(0.0, plan.runs - units[unit].begun);
    }
    const bool begun = units.front().begun > 0;
    if (!begun && plan.most_s > 0) pending = std::min(pending, std::max(once, plan.most_s));
    all += pending;
  }
  return all;
}

double TimeEstimate::lap_s(std::size_t lap) const {
  const Unit* const known = similar(part_, unit_);
  if (known && lap < known->laps.size()) return known->laps[lap].mean();
  const ExpectedTime& step = assumed_[lap - 1];  // the preparation has ended
  return step.waits_s + factor(parts_[part_]) * step.work_s;
}

double TimeEstimate::left_s() const {
  if (assumed_.empty()) return before_s_ + later_s_;
  double left = later_s_;
  for (std::size_t lap = lap_; lap <= assumed_.size(); ++lap) left += lap_s(lap);
  return left;
}

double TimeEstimate::step_s() const {
  return lap_s(lap_);
}

bool TimeEstimate::step_is_measured() const {
  return parts_[part_].units[unit_].ended > 0;
}

double TimeEstimate::elapsed_s() const {
  return static_cast<double>(clock_() - began_ns_) * 1e-9;
}

std::optional<std::string> TimeEstimate::news() {
  const double left = left_s(), all = elapsed_s() + left;
  const bool first = told_s_ == 0;
  if (all < kWorthTelling) return std::nullopt;
  if (!first && (left < kWorthCorrecting || std::abs(all / told_s_ - 1) < kCloseEnough)) {
    return std::nullopt;
  }
  told_s_ = all;
  double budget = 0;
  for (const Part& part : parts_) budget += part.plan.most_s;
  const std::string most =
      budget > 0 ? fmt::format("; automatic repetitions: at most {}", format_duration(budget)) : "";
  const bool measured =
      std::ranges::any_of(parts_, [](const Part& part) { return part.measured_s > 0; });
  if (measured) {
    return fmt::format("estimated time by the repetitions so far: {}, {} left{}",
                       format_duration(all), format_duration(left), most);
  }
  return fmt::format(
      "estimated time: {}, assuming {:.0f} MB/s until the first repetition has ended{}",
      format_duration(all), kAssumedRate / 1e6, most);
}

}  // namespace filereel
