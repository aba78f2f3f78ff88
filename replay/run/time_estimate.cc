#include "replay/run/time_estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/plan/plan.h"
#include "replay/run/baseline_run.h"

namespace filereel {
namespace {

constexpr double kWorthTelling = 10;    // seconds
constexpr double kWorthCorrecting = 5;  // seconds left
constexpr double kCloseEnough = 0.3;    // share of what was told

}  // namespace

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

TimeEstimate::TimeEstimate(const std::vector<EstimatedJob>& jobs, std::size_t sides,
                           double before_s, std::uint64_t began_ns, Nanoseconds clock)
    : sides_(sides),
      clock_(std::move(clock)),
      began_ns_(began_ns),
      lap_ns_(clock_()),
      before_s_(before_s) {
  for (const EstimatedJob& job : jobs) {
    jobs_.push_back({.plan = job, .units = std::vector<Unit>(job.points * sides)});
  }
  later_s_ = pending_s(Automatic::expected);
}

void TimeEstimate::Proportion::add(double measured, double assumed) {
  if (assumed <= 0) return;
  measured_s += measured;
  assumed_s += assumed;
}

void TimeEstimate::begin_job(std::size_t job, double most_s) {
  job_ = job;
  before_s_ = 0;
  lap_ns_ = job_ns_ = clock_();
  if (most_s == 0) return;
  for (std::size_t i = job; i < jobs_.size(); ++i) {  // each gets as much
    if (jobs_[i].plan.most_s > 0) jobs_[i].plan.most_s = most_s;
  }
}

void TimeEstimate::set_runs(double runs) {
  jobs_[job_].plan.runs = runs;
  later_s_ = pending_s(Automatic::expected);
}

void TimeEstimate::begin_unit(std::uint64_t point, std::size_t side) {
  unit_ = point * sides_ + side;
  lap_ = 0;
  assumed_.clear();
  ++jobs_[job_].units[unit_].begun;
  later_s_ = pending_s(Automatic::expected);
}

void TimeEstimate::prepared(const std::vector<Step>& steps) {
  for (const Step& step : steps) assumed_.push_back(step.expected);
  JobTimes& times = jobs_[job_];
  std::vector<Lap>& laps = times.units[unit_].laps;
  if (laps.size() != steps.size() + 1) laps.assign(steps.size() + 1, {});
  times.preparation.add(end_lap(), times.plan.prepare_s);
}

void TimeEstimate::step_ended() {
  const ExpectedTime& assumed = assumed_[lap_ - 1];
  JobTimes& times = jobs_[job_];
  times.work.add(std::max(0.0, end_lap() - assumed.waits_s), assumed.work_s);
  Unit& unit = times.units[unit_];
  if (lap_ == unit.laps.size()) ++unit.ended;
}

void TimeEstimate::end_job() {
  jobs_[job_].plan.runs = jobs_[job_].units.front().begun;  // the same of all
  assumed_.clear();
  later_s_ = pending_s(Automatic::expected);
}

double TimeEstimate::end_lap() {
  const std::uint64_t now = clock_();
  const double seconds = static_cast<double>(now - lap_ns_) * 1e-9;
  jobs_[job_].units[unit_].laps[lap_++].add(seconds);
  lap_ns_ = now;
  return seconds;
}

// `assumed_s`: of what it will be applied to.
double TimeEstimate::factor(const JobTimes& times, Proportion JobTimes::* kind,
                            double assumed_s) const {
  const Proportion& own = times.*kind;
  if (own.assumed_s > 0) return own.measured_s / own.assumed_s;
  Proportion alike, others;  // of the same kind of job; of all
  for (const JobTimes& other : jobs_) {
    const Proportion& known = other.*kind;
    others.add(known.measured_s, known.assumed_s);
    if (times.plan.kind && times.plan.kind == other.plan.kind) {
      alike.add(known.measured_s, known.assumed_s);
    }
  }
  if (others.measured_s <= 0) return 1;
  const bool has_alike = alike.measured_s > 0;
  const Proportion& from = has_alike ? alike : others;
  const double doubt = has_alike ? 0.02 : 0.2;  // of 50 and of 5 times as long: half the weight
  const double weight = from.assumed_s / (from.assumed_s + doubt * assumed_s);
  return std::pow(from.measured_s / from.assumed_s, weight);
}

const TimeEstimate::Unit* TimeEstimate::similar(std::size_t job, std::size_t unit) const {
  const std::size_t first = unit / sides_ * sides_;
  const auto among = [&](const JobTimes& other) -> const Unit* {
    if (other.units[unit].ended > 0) return &other.units[unit];
    for (std::size_t side = 0; side < sides_; ++side) {
      if (other.units[first + side].ended > 0) return &other.units[first + side];
    }
    return nullptr;
  };
  if (const Unit* const here = among(jobs_[job])) return here;
  for (const JobTimes& other : jobs_) {
    if (other.plan.job != jobs_[job].plan.job) continue;
    if (const Unit* const there = among(other)) return there;
  }
  return nullptr;
}

double TimeEstimate::unit_s(std::size_t job, std::size_t unit) const {
  if (const Unit* const same = similar(job, unit)) return same->seconds();
  const JobTimes& known = jobs_[job];
  const ExpectedTime& steps = known.plan.unit;
  return steps.waits_s + factor(known, &JobTimes::work, steps.work_s) * steps.work_s +
         factor(known, &JobTimes::preparation, known.plan.prepare_s) * known.plan.prepare_s;
}

double TimeEstimate::pending_s(Automatic runs) const {
  double all = 0;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    const auto& [plan, units, preparation, work] = jobs_[job];
    double first = 0, pending = 0;  // first: of the first repetition, which always takes place
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const double seconds = unit_s(job, unit);
      if (units[unit].begun == 0) first += seconds;
      pending += seconds * std::max(0.0, plan.runs - units[unit].begun);
    }
    if (plan.most_s > 0 && job >= job_ && pending > 0) {
      const bool begun = units.front().begun > 0;
      const double budget = plan.most_s - (begun ? seconds_since(job_ns_) : 0);
      const double most = std::max(first, budget);
      pending = runs == Automatic::whole_budget ? most : std::min(pending, most);
    }
    all += pending;
  }
  return all;
}

double TimeEstimate::lap_s(std::size_t lap) const {
  const Unit* const known = similar(job_, unit_);
  if (known && lap < known->laps.size()) return known->laps[lap].mean();
  const ExpectedTime& step = assumed_[lap - 1];  // the preparation has ended
  return step.waits_s + factor(jobs_[job_], &JobTimes::work, step.work_s) * step.work_s;
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
  return jobs_[job_].units[unit_].ended > 0;
}

double TimeEstimate::seconds_since(std::uint64_t began_ns) const {
  return static_cast<double>(clock_() - began_ns) * 1e-9;
}

std::string TimeEstimate::limit(double all) const {
  constexpr double kAsMuch = 0.95;
  if (std::ranges::none_of(jobs_, [](const JobTimes& times) { return times.plan.most_s > 0; }))
    return "";
  const double most = all - later_s_ + pending_s(Automatic::whole_budget);
  if (all > kAsMuch * most) return "; the budget of automatic repetitions limits it";
  return fmt::format("; at most {}, by the budget of automatic repetitions", format_duration(most));
}

std::string TimeEstimate::assumed_jobs() const {
  std::set<const Job*> jobs, measured;
  for (const JobTimes& times : jobs_) {
    jobs.insert(times.plan.job);
    if (std::ranges::any_of(times.units, [](const Unit& unit) { return unit.ended > 0; }))
      measured.insert(times.plan.job);
  }
  const std::size_t assumed = jobs.size() - measured.size();
  if (assumed == 0) return "";
  return fmt::format("; {} {} no complete repetition yet", counted_of(assumed, jobs.size(), "job"),
                     agreeing(assumed, "has", "have"));
}

std::optional<std::string> TimeEstimate::news() {
  const double left = left_s(), all = seconds_since(began_ns_) + left;
  const bool first = told_s_ == 0;
  if (all < kWorthTelling) return std::nullopt;
  if (!first && (left < kWorthCorrecting || std::abs(all / told_s_ - 1) < kCloseEnough)) {
    return std::nullopt;
  }
  told_s_ = all;
  const bool measured =
      std::ranges::any_of(jobs_, [](const JobTimes& times) { return times.work.measured_s > 0; });
  if (measured) {
    return fmt::format("estimated time by the repetitions so far: {}, {} left{}{}",
                       format_duration(all), format_duration(left), assumed_jobs(), limit(all));
  }
  return fmt::format(
      "estimated time: {}, assuming {:.0f} MB/s until the first repetition has ended{}",
      format_duration(all), kAssumedRate / 1e6, limit(all));
}

std::uint32_t runs_of(const Job& job, const RunRequest& request) {
  return request.runs ? *request.runs : runs_of(job);
}

bool is_automatic(const Job& job, const RunRequest& request) {
  return request.auto_runs && !request.runs && !job.options(0).runs;
}

std::size_t count_automatic(const Stage& stage, const RunRequest& request) {
  return static_cast<std::size_t>(std::ranges::count_if(
      stage.jobs, [&](const StagedJob& staged) { return is_automatic(*staged.job, request); }));
}

namespace {

// The time to make the conditions of all points once, assumed.
double condition_seconds(const Job& job, const Stage& stage) {
  double all = 0;
  for (std::uint64_t point = 0; point < job.points(); ++point) {
    const DriveCondition condition = job.options(point).condition;
    const Volume* const near =
        needs_no_volume(job) ? nullptr : stage.sides.front().by_part[job.part(point)].near;
    const std::uint64_t capacity = near ? near->capacity() : 0;  // the most if unknown
    if (capacity < UINT64_MAX) all += condition.bytes_on(capacity) / kAssumedRate;
    all += static_cast<double>(condition.rest_ns) * 1e-9;
  }
  return all;
}

}  // namespace

TimeEstimate estimate_of(const Stage& stage, const RunRequest& request, std::size_t shapes) {
  const auto automatic = static_cast<double>(count_automatic(stage, request));
  std::vector<EstimatedJob> jobs;
  for (const StagedJob& staged : stage.jobs) {
    const Job& job = *staged.job;
    const auto points = static_cast<double>(job.points());
    EstimatedJob& estimated_job = jobs.emplace_back(
        EstimatedJob{.job = &job, .kind = job.record().kind, .points = job.points()});
    estimated_job.unit = {staged.time.work_s / points, staged.time.waits_s / points};
    estimated_job.prepare_s = (staged.fill_s + preparation_seconds(job)) / points;
    estimated_job.prepare_s += condition_seconds(job, stage) / points;
    estimated_job.runs = runs_of(job, request);
    if (!is_automatic(job, request)) continue;
    estimated_job.runs = request.auto_runs->least;
    estimated_job.most_s = request.auto_runs->budget_s / automatic;
  }
  const std::size_t sides = stage.sides.size();
  const auto baselines = static_cast<double>(sides - (request.targets.control ? 1 : 0));
  return {jobs, sides, baselines * baseline_seconds(shapes), request.began_ns};
}

}  // namespace filereel
